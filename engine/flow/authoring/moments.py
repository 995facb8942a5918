"""Start and end dates, and the time zone that follows from them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from flow.authoring.origin import Origin
from flow.errors import InvalidDag

_HOUR = timedelta(hours=1)


def zone_name(zone: tzinfo, where: Origin) -> str:
    """The IANA name of `zone`: of `zoneinfo`, pendulum, pytz, or `datetime.timezone`.

    A fixed offset has no daylight saving. One of whole hours from -12 to +14 becomes the zone that
    says so (`+02:00` is `Etc/GMT-2`, whose name counts the other way round); any other raises
    `InvalidDag`, as does a tzinfo without a name.
    """
    for attribute in ("key", "zone"):
        name = getattr(zone, attribute, None)
        if isinstance(name, str) and name and not name.startswith(("+", "-")):
            return name
    offset = zone.utcoffset(None) if isinstance(zone, timezone) else _fixed(zone)
    if offset is None:
        raise InvalidDag(
            f"{where}: the time zone {zone!r} of start_date has no name",
            "use zoneinfo.ZoneInfo('Europe/Zurich'), or pendulum.datetime(…, tz='Europe/Zurich')",
        )
    hours, rest = divmod(offset, _HOUR)
    if rest or not -12 <= hours <= 14:
        raise InvalidDag(
            f"{where}: start_date has the fixed offset {offset}, which is not a time zone",
            "name a zone, such as zoneinfo.ZoneInfo('Asia/Kolkata')",
        )
    return f"Etc/GMT{-hours:+d}" if hours else "UTC"


def _fixed(zone: tzinfo) -> timedelta | None:
    """The offset of a zone that is the same in winter and in summer of every year, else None.

    pendulum's fixed zones and pytz's are classes of their own, known by what they answer.
    """
    try:
        offsets = {
            zone.utcoffset(datetime(year, month, 1, tzinfo=zone))
            for year in (1970, 2000, 2025)
            for month in (1, 7)
        }
    except (ValueError, NotImplementedError):
        return None
    return offsets.pop() if len(offsets) == 1 else None


def as_moment(name: str, value: object, where: Origin) -> datetime | None:
    """`value` as a datetime, naive or aware; ISO text is read. Raises `InvalidDag` for others."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass  # falls to the error below, which shows the text
    if value is None or isinstance(value, datetime):
        return value
    raise InvalidDag(
        f"{where}: {name} must be a datetime, not {value!r}", f"write {name}=datetime(2026, 1, 31)"
    )


def in_zone(value: datetime | None, zone: ZoneInfo) -> datetime | None:
    """`value` as an aware datetime of the standard library; naive means in `zone`."""
    if value is None:
        return None
    if value.tzinfo is None:
        value = value.replace(tzinfo=zone)
    return datetime.combine(value.date(), value.time(), value.tzinfo)


def utc(value: datetime | None) -> datetime | None:
    """An aware datetime in UTC."""
    return None if value is None else value.astimezone(UTC)
