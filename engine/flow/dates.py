"""Dates on the command line: `2026-10-09`, `2026-10-09T06:00`, an offset form, `yesterday`,
`today`, `-7d`.

A date without an offset is meant in a given zone, the DAG's. Days begin at the zone's midnight, or
at the first moment of a day that has no midnight because clocks were put forward then.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from flow.errors import UsageError

FORMS = "2026-10-09, 2026-10-09T06:00, 2026-10-09T06:00+02:00, yesterday, today or -7d"
_DAYS_AGO = {"today": 0, "yesterday": 1}
_RELATIVE = re.compile(r"-(?P<count>\d+)(?P<unit>[mhdw])")
_UNITS = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(?P<offset>Z|[+-]\d\d:?\d\d)?"
)


class DateArgument(NamedTuple):
    """What a date argument means.

    `start` is aware. `end` is the same moment, or the first moment of the next day when the
    argument named a whole day: `--to 2026-10-09` includes that day.
    """

    start: datetime
    end: datetime

    @property
    def whole_day(self) -> bool:
        """Whether the argument named a day and not a moment."""
        return self.end > self.start


def parse_date(text: str, zone: tzinfo, now: datetime) -> DateArgument:
    """Read a date argument. `zone` is for what has no offset, `now` is an aware moment.

    Raises `UsageError` for what is no date, for a local time that clocks skip, and for one that
    they show twice.
    """
    written = text.strip()
    try:
        if written in _DAYS_AGO:
            return _day(now.astimezone(zone) - timedelta(days=_DAYS_AGO[written]), zone)
        if relative := _RELATIVE.fullmatch(written):
            return _relative(int(relative["count"]), relative["unit"], zone, now)
        if _DAY.fullmatch(written):
            return _day(datetime.fromisoformat(written).replace(tzinfo=zone), zone)
        if moment := _MOMENT.fullmatch(written):
            return _moment(datetime.fromisoformat(written), bool(moment["offset"]), zone)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"there is no date {text!r}: {error}", f"Write {FORMS}.") from error
    raise UsageError(f"{text!r} is not a date", f"Write {FORMS}.")


def looks_like_date(text: str) -> bool:
    """Whether `parse_date` would read the text as a date, though perhaps as one that is not."""
    written = text.strip()
    return written in _DAYS_AGO or any(
        form.fullmatch(written) for form in (_RELATIVE, _DAY, _MOMENT)
    )


def _relative(count: int, unit: str, zone: tzinfo, now: datetime) -> DateArgument:
    """Days and weeks ago are whole local days; hours and minutes ago are moments."""
    ago = count * _UNITS[unit]
    if unit in "dw":
        return _day(now.astimezone(zone) - ago, zone)
    moment = (now.astimezone(UTC) - ago).astimezone(zone)
    return DateArgument(moment, moment)


def _day(inside: datetime, zone: tzinfo) -> DateArgument:
    return DateArgument(
        _first_moment(inside, zone), _first_moment(inside + timedelta(days=1), zone)
    )


def _first_moment(inside: datetime, zone: tzinfo) -> datetime:
    midnight = datetime(inside.year, inside.month, inside.day, tzinfo=zone)
    return midnight if _exists(midnight) else _normal(midnight)


def _moment(written: datetime, has_offset: bool, zone: tzinfo) -> DateArgument:
    if has_offset:
        return DateArgument(written, written)
    local = written.replace(tzinfo=zone)
    if not _exists(local):
        raise UsageError(
            f"{written.isoformat()} does not exist in {zone}: clocks are put forward over it",
            f"The next moment that exists is {_normal(local).isoformat()}.",
        )
    later = local.replace(fold=1)
    if later.utcoffset() != local.utcoffset():
        raise UsageError(
            f"{written.isoformat()} happens twice in {zone}: clocks are put back over it",
            f"Write {local.isoformat()} or {later.isoformat()}.",
        )
    return DateArgument(local, local)


def _exists(local: datetime) -> bool:
    return _normal(local).replace(tzinfo=None) == local.replace(tzinfo=None, fold=0)


def _normal(local: datetime) -> datetime:
    """The same moment as clocks show it: a skipped time moves behind the gap."""
    return local.astimezone(UTC).astimezone(local.tzinfo)
