"""Reading the value of a setting: one function for each kind of value.

Each takes what the user wrote, as TOML gave it or as the text of an environment variable, and the
folder that relative paths start from. It returns the value in the form Flow uses or raises
`ValueError` whose text completes the sentence "worker.slots must be …".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Reader = Callable[[object, "Path"], object]

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
PALETTES = ("default", "deuteranopia", "tritanopia", "mono")
LEAST_WEIGHT = 0.001
MOST_WEIGHT = 1000.0
_SECONDS_IN = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


def optional(read: Reader) -> Reader:
    """The same kind of value, or none at all."""

    def read_optional(value: object, base: Path) -> object:
        return None if value is None else read(value, base)

    return read_optional


def name(value: object, base: Path) -> str:
    """A text that is not empty."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ValueError("a text that is not empty")


def names(value: object, base: Path) -> tuple[str, ...]:
    """A list of names; in an environment variable they are separated by commas."""
    if isinstance(value, str):
        value = value.split(",")
    if isinstance(value, list | tuple) and value:
        if any(isinstance(part, str) and not part.strip() for part in value):
            raise ValueError("a list of texts, none of them empty")
        return tuple(name(part, base) for part in value)
    raise ValueError("a list of texts")


def path(value: object, base: Path) -> Path:
    """A path, `~` resolved, made absolute against the folder of whoever wrote it."""
    from pathlib import Path

    written = Path(name(value, base))
    try:
        return base / written.expanduser()
    except RuntimeError as error:
        raise ValueError(f"a path; {written.parts[0]} is nobody's home") from error


def paths(value: object, base: Path) -> tuple[Path, ...]:
    """A list of paths; in an environment variable they are separated by commas."""
    return tuple(path(part, base) for part in names(value, base))


def flag(value: object, base: Path) -> bool:
    """True or false."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise ValueError("true or false")


def whole(minimum: int) -> Reader:
    """A whole number that is not smaller than `minimum`."""

    def read_whole(value: object, base: Path) -> int:
        return _whole(value, minimum)

    return read_whole


def seconds(value: object, base: Path) -> float:
    """A duration above zero: a number of seconds, or a text such as "90s", "5m", "2h", "1d"."""
    number = _duration(value)
    if number is not None and 0 < number < float("inf"):
        return number
    raise ValueError('a duration of more than 0: seconds, or a text such as "5m"')


def seconds_or_zero(value: object, base: Path) -> float:
    """A duration that may also be none at all."""
    return 0.0 if _duration(value) == 0 else seconds(value, base)


def share(value: object, base: Path) -> float:
    """A part of a whole, more than 0 and less than 1."""
    number = _number(value)
    if number is not None and 0 < number < 1:
        return number
    raise ValueError("a share between 0 and 1, such as 0.1")


def weight(value: object, base: Path) -> float:
    """A share of something that others have shares of too."""
    number = _number(value)
    if number is not None and LEAST_WEIGHT <= number <= MOST_WEIGHT:
        return number
    raise ValueError(f"a number from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}")


def weights(value: object, base: Path) -> dict[str, float]:
    """A table of names and shares; in an environment variable `a=2,b=0.5`."""
    value = _pairs(value)
    if not isinstance(value, dict) or "" in value:
        raise ValueError("a table of names and numbers, such as { sales = 2 }")
    try:
        return {str(name): weight(number, base) for name, number in value.items()}
    except ValueError as error:
        raise ValueError(f"a table of names and numbers, each {error}") from None


def table(value: object, base: Path) -> dict[str, object]:
    """A table of names and values; in an environment variable a JSON object."""
    if value == {}:
        return {}
    import json

    try:
        found = json.loads(value) if isinstance(value, str) else value
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, dict) or "" in found:
        raise ValueError('a table of names and values, such as { country = "ch" }, without dates')
    return found


def slots(value: object, base: Path) -> dict[str, int]:
    """A table of pools and whole numbers; in an environment variable `a=2,b=1`."""
    value = _pairs(value)
    if not isinstance(value, dict) or "" in value:
        raise ValueError("a table of pools and numbers, such as { warehouse = 2 }")
    try:
        return {str(name): _whole(number, 0) for name, number in value.items()}
    except ValueError as error:
        raise ValueError(f"a table of pools and numbers, each {error}") from None


def keys(value: object, base: Path) -> dict[str, str]:
    """A table of actions and keys; in an environment variable a JSON object."""
    found = table(value, base)
    if not all(isinstance(key, str) and key.strip() for key in found.values()):
        raise ValueError('a table of actions and keys, such as { "item.clear" = "ctrl+k" }')
    return {action: str(key) for action, key in found.items()}


def palette(value: object, base: Path) -> str:
    """The name of a palette of state colours."""
    if value not in PALETTES:
        raise ValueError(" or ".join(f'"{name}"' for name in PALETTES))
    return str(value)


def time_zone(value: object, base: Path) -> str:
    """The name of a time zone that this machine knows."""
    zone = name(value, base)
    if zone == "UTC":
        return zone
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError('the name of a time zone, such as "Europe/Berlin"') from error
    return zone


def postgres_url(value: object, base: Path) -> str:
    """A URL in libpq's form. SQLAlchemy's forms name a driver that only SQLAlchemy knows."""
    if isinstance(value, str) and value.startswith(("postgresql://", "postgres://")):
        return value
    raise ValueError('a URL that begins with "postgresql://"')


def lost_contact(value: object, base: Path) -> str:
    """What to do with tries whose worker has lost the database."""
    if value in ("stop", "keep"):
        return str(value)
    raise ValueError('"stop" or "keep"')


def code(value: object, base: Path) -> str:
    """Which code the tasks of a run use."""
    if value in ("latest", "pinned"):
        return str(value)
    raise ValueError('"latest" or "pinned"')


def ignore_form(value: object, base: Path) -> str:
    """How the lines of `.airflowignore` files are read."""
    if value in ("glob", "regexp"):
        return str(value)
    raise ValueError('"glob" or "regexp"')


def _pairs(value: object) -> object:
    """The text of an environment variable, `a=2,b=0.5`, as the table that it stands for."""
    if not isinstance(value, str):
        return value
    pairs = (part.rpartition("=") for part in value.split(",") if part.strip())
    return {name.strip(): number for name, _, number in pairs}


def _whole(value: object, minimum: int) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= minimum:
        return value
    raise ValueError(f"a whole number of at least {minimum}")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _duration(value: object) -> float | None:
    if not isinstance(value, str):
        return _number(value)
    number = value.strip().rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = value.strip().removeprefix(number) or "s"
    amount = _number(number)
    return None if amount is None or unit not in _SECONDS_IN else amount * _SECONDS_IN[unit]
