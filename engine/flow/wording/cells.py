"""How a single value is shown: as the text of a cell, and as JSON.

The fields of a row are the same in both; only their form differs. Text shows a time in the zone it
came with and always with its offset, JSON shows it in UTC with a `Z`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import PurePath
from typing import TextIO

NOTHING = "-"
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
_DIRECTION_CHANGES = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_ESCAPES = {
    code: chr(code).encode("unicode_escape").decode("ascii")
    for code in [*_CONTROLS, *_DIRECTION_CHANGES]
}


def text_of(value: object) -> str:
    """One line of text. What would move the cursor or the text around is shown escaped."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, datetime):
        return _with_offset(value).isoformat(timespec="seconds")
    if isinstance(value, timedelta):
        return text_of(value.total_seconds()) + " s"
    if isinstance(value, Enum):
        return text_of(value.value)
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(text_of(part) for part in _ordered(value)) or NOTHING
    return printable(str(value))


def written(value: object) -> str:
    """A setting as it would be written in an environment variable, so that it can be passed on."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(written(part) for part in value)
    if isinstance(value, dict):
        return _written_table(value)
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _written_table(table: dict[str, object]) -> str:
    """Names and numbers as pairs; what holds anything else is a JSON object."""
    if all(isinstance(value, int | float) for value in table.values()):
        return ",".join(f"{name}={written(value)}" for name, value in table.items())
    import json

    return json.dumps(table, ensure_ascii=False)


def duration_text(seconds: float) -> str:
    """A duration for people, in its two largest units: 0.8 s, 12 s, 4 min 5 s, 3 h 7 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for length, unit, smaller, name in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min")):
        if whole >= length:
            return f"{whole // length} {unit} {whole % length // smaller} {name}"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


def counted(number: int, noun: str) -> str:
    """How many there are of something: 1 run, 2 runs."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def printable(text: str) -> str:
    """The text without characters that a terminal would obey."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def json_of(value: object) -> object:
    """The JSON form of a value that `json` does not know: the `default` of `json.dumps`."""
    if isinstance(value, datetime):
        return _with_offset(value).astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, set | frozenset):
        return _ordered(value)
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def json_text(document: object, stream: TextIO, indent: int | None = None) -> str:
    """A JSON document in the characters that a stream can write."""
    import json

    # Another encoding would escape what it lacks in a way that is not JSON.
    ascii_only = (stream.encoding or "utf-8").lower() not in ("utf-8", "utf8")
    return json.dumps(document, default=json_of, indent=indent, ensure_ascii=ascii_only)


def width_of(text: str) -> int:
    """How many terminal columns a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )


def _with_offset(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise TypeError(f"a time without an offset reached the output: {moment}")
    return moment


def _ordered(
    values: list[object] | tuple[object, ...] | set[object] | frozenset[object],
) -> list[object]:
    return list(values) if isinstance(values, list | tuple) else sorted(values, key=str)
