"""XCom values as JSON text, and back, with type and value unchanged.

Plain JSON values are written as they are. Every other type that may be pushed is an object tagged
with `__flow__`:

    float nan, inf, -inf       {"__flow__": "float", "value": "nan"}
    str with surrogates        {"__flow__": "str", "value": base64 of UTF-8 with surrogatepass}
    bytes                      {"__flow__": "bytes", "value": base64}
    tuple, set, frozenset      {"__flow__": "tuple", "items": […]}
    dict with other keys       {"__flow__": "dict", "items": [[key, value], …]}
    date                       {"__flow__": "date", "value": "2026-10-09"}
    datetime                   {"__flow__": "datetime", "value": ISO 8601, "zone": …, "fold": 1}
    pendulum.DateTime          the same with "pendulum"
    timedelta                  {"__flow__": "timedelta", "value": [days, seconds, microseconds]}
    decimal.Decimal            {"__flow__": "decimal", "value": "1.50"}

"Other keys" are keys that are not text, and the text `__flow__` itself: so a dict of a user is
never taken for a tag. A date-time with a named zone is written in local time beside the zone's
name; one with a fixed offset carries it in its text.

Anything else, also a subclass of these types, is refused when it is pushed: what is stored can
always be read. NUL is written as an escape and lone surrogates are encoded, so the text is valid
JSON, valid UTF-8 and legal in a PostgreSQL text column.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from flow.errors import InvalidXCom

TAG: Final = "__flow__"
MAX_DEPTH: Final = 200
"""Containers within each other; more could be written but not read back on a deeper stack."""

_HINT: Final = (
    "push None, bool, int, float, str, bytes, list, tuple, set, dict, datetime, date, timedelta "
    "or Decimal; convert anything else first"
)
_CONVERSIONS: Final[tuple[tuple[type, str], ...]] = (
    (dict, "dict(value)"),
    (list, "list(value)"),
    (tuple, "tuple(value)"),
    (int, "int(value)"),
    (float, "float(value)"),
    (str, "str(value)"),
    (bytes, "bytes(value)"),
    (timedelta, "value.total_seconds()"),
)


class _Refused(Exception):
    """Why a value cannot be written; `encode` adds whose value it is."""

    def __init__(self, what: str, hint: str = _HINT) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.path = ""

    def within(self, step: str) -> _Refused:
        """The same, seen from the container that holds the value at `step`."""
        self.path = step + self.path
        return self


def encode(value: object, *, task_id: str, key: str) -> str:
    """JSON text of `value`; `task_id` and `key` are only for the error.

    Raises `InvalidXCom` naming task, key, type, where in the value it stands, and what to do.
    """
    try:
        return json.dumps(_pack(value, 0), ensure_ascii=False, allow_nan=False)
    except _Refused as refused:
        place = f" at value{refused.path}" if refused.path else ""
        raise InvalidXCom(
            f"task {task_id!r} cannot push XCom {key!r}: {refused.what}{place}", refused.hint
        ) from None
    except ValueError as error:  # an int with more digits than Python turns into text
        raise InvalidXCom(f"task {task_id!r} cannot push XCom {key!r}: {error}", _HINT) from None


def check_size(text: str, limit: int, *, task_id: str, key: str) -> None:
    """Raise `InvalidXCom` when the encoded text is larger than `limit` bytes of UTF-8."""
    size = len(text) if text.isascii() else len(text.encode())
    if size > limit:
        raise InvalidXCom(
            f"task {task_id!r} cannot push XCom {key!r}: it is {size:,} bytes of JSON, "
            f"and the limit is {limit:,}",
            "write the data to storage and push where it is",
        )


def decode(text: str) -> Any:
    """The value that `encode` wrote as `text`.

    Raises `InvalidXCom` when the text is not JSON or has a tag that this version does not know.
    """
    try:
        return json.loads(text, object_hook=_unpack)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidXCom(
            f"a stored XCom cannot be read: {error}",
            "it was written by a newer version of Flow or changed by hand; clear the task",
        ) from error


def _pack(value: Any, depth: int) -> object:
    kind = type(value)
    if kind is str:
        return value if value.isascii() or not _has_surrogates(value) else _pack_surrogates(value)
    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        return value if math.isfinite(value) else {TAG: "float", "value": repr(value)}
    packer = _SCALARS.get(kind)
    if packer is not None:
        return packer(value)
    if kind.__module__ == "pendulum.datetime" and kind.__name__ == "DateTime":
        return _pack_pendulum(value)
    if kind not in _CONTAINERS:
        raise _refusal(value)
    if depth >= MAX_DEPTH:
        raise _Refused(
            f"it is nested deeper than {MAX_DEPTH} levels or contains itself",
            "push a flatter value",
        )
    return _pack_dict(value, depth + 1) if kind is dict else _pack_sequence(value, depth + 1)


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _pack_surrogates(text: str) -> dict[str, object]:
    raw = text.encode("utf-8", "surrogatepass")
    return {TAG: "str", "value": base64.b64encode(raw).decode()}


def _pack_sequence(values: Any, depth: int) -> object:
    items = []
    for number, item in enumerate(values):
        try:
            items.append(_pack(item, depth))
        except _Refused as refused:
            raise refused.within(f"[{number}]") from None
    kind = type(values)
    if kind is list:
        return items
    if kind is not tuple:
        # Sets have no order of their own; sorted, the same set is always the same text.
        items.sort(key=json.dumps)
    return {TAG: kind.__name__, "items": items}


def _pack_dict(values: dict[Any, Any], depth: int) -> object:
    pairs = []
    for key, item in values.items():
        try:
            pairs.append((_pack(key, depth), _pack(item, depth)))
        except _Refused as refused:
            raise refused.within(f"[{key!r}]") from None
    if all(type(key) is str and key != TAG for key, _ in pairs):
        return dict(pairs)
    return {TAG: "dict", "items": pairs}


def _refusal(value: object) -> _Refused:
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    for base, conversion in _CONVERSIONS:
        if isinstance(value, base):
            return _Refused(
                f"{name}, a subclass of {base.__name__}, could not be read back as what it is",
                f"push {conversion}",
            )
    if hasattr(value, "item") and hasattr(value, "dtype"):
        return _Refused(f"{name} is not a type that XComs keep", "push value.item()")
    return _Refused(f"{name} is not a type that XComs keep")


def _pack_datetime(value: datetime) -> dict[str, object]:
    packed: dict[str, object] = {TAG: "datetime", "value": value.isoformat()}
    zone = value.tzinfo
    if zone is not None and not isinstance(zone, timezone):
        if not isinstance(zone, ZoneInfo) or zone.key is None:
            raise _zone_refusal("datetime", zone)
        packed["value"] = value.replace(tzinfo=None).isoformat()
        packed["zone"] = zone.key
    if value.fold:
        packed["fold"] = 1
    return packed


def _pack_pendulum(value: Any) -> dict[str, object]:
    zone = value.tzinfo
    local = datetime.fromisoformat(value.isoformat()).replace(tzinfo=None)
    packed: dict[str, object] = {TAG: "pendulum", "value": local.isoformat()}
    if isinstance(zone, ZoneInfo):
        packed["zone"] = zone.key
    elif zone is not None:
        packed["offset"] = value.utcoffset().total_seconds()
    if value.fold:
        packed["fold"] = 1
    if type(_unpack(packed).tzinfo) is not type(zone):
        raise _zone_refusal("pendulum.DateTime", zone)
    return packed


def _zone_refusal(kind: str, zone: object) -> _Refused:
    return _Refused(
        f"a {kind} with the time zone {zone!r} could not be read back as what it is",
        "use datetime.timezone, zoneinfo.ZoneInfo or pendulum.timezone",
    )


_CONTAINERS: Final = frozenset({list, dict, tuple, set, frozenset})
_SCALARS: Final[dict[type, Callable[[Any], object]]] = {
    bytes: lambda value: {TAG: "bytes", "value": base64.b64encode(value).decode()},
    date: lambda value: {TAG: "date", "value": value.isoformat()},
    datetime: _pack_datetime,
    timedelta: lambda value: {
        TAG: "timedelta",
        "value": [value.days, value.seconds, value.microseconds],
    },
    Decimal: lambda value: {TAG: "decimal", "value": str(value)},
}


def _unpack(packed: dict[str, Any]) -> Any:
    tag = packed.get(TAG)
    if tag is None:
        return packed
    unpacker = _UNPACKERS.get(tag)
    if unpacker is None:
        raise ValueError(f"unknown type {tag!r}")
    return unpacker(packed)


def _unpack_datetime(packed: dict[str, Any]) -> datetime:
    value = datetime.fromisoformat(packed["value"])
    if "zone" in packed:
        value = value.replace(tzinfo=ZoneInfo(packed["zone"]))
    return value.replace(fold=packed.get("fold", 0))


def _unpack_pendulum(packed: dict[str, Any]) -> Any:
    import pendulum  # only where a value of it was pushed: importing it takes tens of ms

    value = datetime.fromisoformat(packed["value"])
    zone: Any = None
    if "zone" in packed:
        zone = pendulum.timezone(packed["zone"])
    elif "offset" in packed:
        zone = _fixed_timezone(packed["offset"])
    return pendulum.DateTime(
        *value.timetuple()[:6], value.microsecond, tzinfo=zone, fold=packed.get("fold", 0)
    )


@lru_cache
def _fixed_timezone(seconds: float) -> Any:
    from pendulum.tz import fixed_timezone

    return fixed_timezone(int(seconds))


_UNPACKERS: Final[dict[str, Callable[[dict[str, Any]], Any]]] = {
    "float": lambda packed: float(packed["value"]),
    "str": lambda packed: base64.b64decode(packed["value"]).decode("utf-8", "surrogatepass"),
    "bytes": lambda packed: base64.b64decode(packed["value"]),
    "tuple": lambda packed: tuple(packed["items"]),
    "set": lambda packed: set(packed["items"]),
    "frozenset": lambda packed: frozenset(packed["items"]),
    "dict": lambda packed: dict(packed["items"]),
    "date": lambda packed: date.fromisoformat(packed["value"]),
    "datetime": _unpack_datetime,
    "pendulum": _unpack_pendulum,
    "timedelta": lambda packed: timedelta(*packed["value"]),
    "decimal": lambda packed: Decimal(packed["value"]),
}
