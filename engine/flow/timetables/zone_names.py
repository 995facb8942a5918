"""The IANA name of a time zone that somebody gives as a `tzinfo`."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo

from flow.errors import InvalidDag

_HOUR = timedelta(hours=1)


def zone_name(zone: tzinfo) -> str:
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
            f"the time zone {zone!r} has no name",
            "use zoneinfo.ZoneInfo('Europe/Zurich'), or pendulum.datetime(…, tz='Europe/Zurich')",
        )
    hours, rest = divmod(offset, _HOUR)
    if rest or not -12 <= hours <= 14:
        raise InvalidDag(
            f"the fixed offset {offset} is not a time zone",
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
