"""Start and end dates."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from flow.authoring.origin import Origin
from flow.errors import InvalidDag


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
