"""A time zone's clock: walls, instants, and the hours around a change of its offset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from flow.errors import InvalidDag

_HOUR = timedelta(hours=1)
_SECOND = timedelta(seconds=1)
_HOURS_LOOKED_AT = 72


class Transition(NamedTuple):
    """The clock of a zone goes from one offset to another at the instant `at`."""

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def begin(self) -> datetime:
        """From here to `end`, the order of wall times is not the order of instants."""
        return self.at - abs(self.after - self.before)

    @property
    def end(self) -> datetime:
        """First instant at which wall times and instants agree in order again."""
        return self.at + abs(self.after - self.before)


@lru_cache(maxsize=1024)
def load_zone(name: str) -> ZoneInfo:
    """The zone of that IANA name; `InvalidDag` if there is none.

    Kept here because `ZoneInfo` itself holds on to only eight zones.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # OSError: the name of a folder of zones
        raise InvalidDag(
            f"time zone {name!r} does not exist; accepted are IANA names such as "
            "'Europe/Zurich' or 'UTC'",
            "Correct the DAG's timezone; if the name is right, install the tzdata package.",
        ) from error


def as_utc(moment: datetime) -> datetime:
    """The same instant in UTC; `ValueError` for a naive moment, which is no instant."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; pass an aware datetime")
    return moment.astimezone(UTC)


def to_wall(instant: datetime, zone: ZoneInfo) -> datetime:
    """What the zone's clock shows at `instant`, as a naive datetime."""
    return instant.astimezone(zone).replace(tzinfo=None)


def to_instants(wall: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The instants in UTC of both readings of a wall time: first pass, second pass.

    They are equal for an ordinary wall time, rising in a fold and falling in a gap, where the
    first one is the wall time moved forward by the gap's length (PEP 495).
    """
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    second = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return first, second


def transition_at(name: str, instant: datetime) -> Transition | None:
    """The transition whose span from `begin` up to, not including, `end` holds `instant`."""
    for transition in _transitions_near(name, instant.toordinal()):
        if transition.begin <= instant < transition.end:
            return transition
    return None


@lru_cache(maxsize=8192)
def _transitions_near(name: str, day: int) -> tuple[Transition, ...]:
    """Transitions from one day before to one day after a UTC day, given by its ordinal.

    A day each way is enough: no zone has ever moved its clock by more than 24 hours.
    """
    zone = load_zone(name)
    found = []
    left = datetime.fromordinal(day).replace(tzinfo=UTC) - 24 * _HOUR
    before = _offset(left, zone)
    for _ in range(_HOURS_LOOKED_AT):
        right = left + _HOUR
        after = _offset(right, zone)
        if after != before:
            found.append(Transition(_change_between(left, right, zone), before, after))
        left, before = right, after
    return tuple(found)


def _change_between(left: datetime, right: datetime, zone: ZoneInfo) -> datetime:
    """The first second after `left` that has the offset of `right`."""
    wanted = _offset(right, zone)
    while right - left > _SECOND:
        middle = left + (right - left) // _SECOND // 2 * _SECOND
        if _offset(middle, zone) == wanted:
            right = middle
        else:
            left = middle
    return right


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta:
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None  # a ZoneInfo always knows it; only a naive datetime has none
    return offset
