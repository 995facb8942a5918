"""Ticks: the instants that crons and distances name. The rules: flow-time(7).

All moments here are in UTC.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, Protocol

from flow.timetables.cron import Cron, load_cron
from flow.timetables.zone import Transition, load_zone, to_instants, to_wall, transition_at

TICK = timedelta.resolution
"""The least that two different moments are apart."""

END = datetime.max.replace(tzinfo=UTC)
"""The last moment of the calendar."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


class Ticks(Protocol):
    """A set of instants, without end in both directions or finite."""

    def first_from(self, instant: datetime) -> datetime | None:
        """The first one at or after `instant`; None if there is none in the calendar (to 9999)."""
        ...

    def last_before(self, instant: datetime) -> datetime | None:
        """The last one strictly before `instant`; None if there is none."""
        ...


def first_after(ticks: Ticks, instant: datetime) -> datetime | None:
    """The first tick strictly after `instant`."""
    return ticks.first_from(instant + TICK) if instant < END else None


def last_until(ticks: Ticks, instant: datetime) -> datetime | None:
    """The last tick at or before `instant`."""
    return ticks.last_before(min(instant, END - TICK) + TICK)


class DeltaTicks(NamedTuple):
    """Multiples of a distance of `seconds`, counted in both directions from `anchor`.

    Without an anchor they are counted from 1970-01-01T00:00Z.
    """

    seconds: float
    anchor: datetime | None

    def first_from(self, instant: datetime) -> datetime | None:
        """The first one at or after `instant`."""
        try:
            return self._last_before(instant) + timedelta(seconds=self.seconds)
        except OverflowError:
            return None

    def last_before(self, instant: datetime) -> datetime | None:
        """The last one before `instant`."""
        try:
            return self._last_before(instant)
        except OverflowError:
            return None

    def _last_before(self, instant: datetime) -> datetime:
        origin = self.anchor or _EPOCH
        length = timedelta(seconds=self.seconds)
        return origin + (instant - TICK - origin) // length * length


class UnionTicks(NamedTuple):
    """All that several sets hold; what two of them share counts once."""

    parts: tuple[Ticks, ...]

    def first_from(self, instant: datetime) -> datetime | None:
        """The first one of any part at or after `instant`."""
        found = (part.first_from(instant) for part in self.parts)
        return min((one for one in found if one is not None), default=None)

    def last_before(self, instant: datetime) -> datetime | None:
        """The last one of any part before `instant`."""
        found = (part.last_before(instant) for part in self.parts)
        return max((one for one in found if one is not None), default=None)


class ListedTicks(NamedTuple):
    """Instants that are written down, rising and each once."""

    instants: tuple[datetime, ...]

    def first_from(self, instant: datetime) -> datetime | None:
        """The first one at or after `instant`."""
        place = bisect_left(self.instants, instant)
        return self.instants[place] if place < len(self.instants) else None

    def last_before(self, instant: datetime) -> datetime | None:
        """The last one before `instant`."""
        place = bisect_left(self.instants, instant)
        return self.instants[place - 1] if place else None


class CronTicks(NamedTuple):
    """The slots of a cron expression on the clock of a zone (IANA name), as instants."""

    expression: str
    timezone: str

    def first_from(self, instant: datetime) -> datetime | None:
        """The first one at or after `instant`."""
        try:
            return _cron_first_from(self, _whole_second(instant))
        except OverflowError:
            return None

    def last_before(self, instant: datetime) -> datetime | None:
        """The last one before `instant`."""
        try:
            return _cron_last_before(self, _whole_second(instant))
        except OverflowError:
            return None


def _whole_second(instant: datetime) -> datetime:
    """The instant itself, or the next whole second.

    Ticks of a cron lie on whole seconds of UTC, so the answers are the same; but all DAGs that
    become due in one second, mostly of few distinct crons, then ask the same question.
    """
    return instant if not instant.microsecond else instant.replace(microsecond=0) + _SECOND


@lru_cache(maxsize=4096)
def _cron_first_from(ticks: CronTicks, instant: datetime) -> datetime | None:
    """Follow the slots in wall order, except around a transition, where they are listed.

    Away from transitions the order of wall times is the order of instants, so one step of the
    cron is enough, however far it leads.
    """
    cron = load_cron(ticks.expression)
    zone = load_zone(ticks.timezone)
    transition = transition_at(ticks.timezone, instant)
    if transition is not None:
        listed = _around(ticks, transition)
        if listed and listed[-1] >= instant:
            return listed[bisect_left(listed, instant)]
        instant = transition.end
    slot = cron.first_from(to_wall(instant, zone))
    if slot is None:
        return None
    candidate = max(to_instants(slot, zone))
    transition = transition_at(ticks.timezone, candidate)
    if transition is None:
        return candidate
    listed = _around(ticks, transition)
    return listed[bisect_left(listed, instant)]


@lru_cache(maxsize=4096)
def _cron_last_before(ticks: CronTicks, instant: datetime) -> datetime | None:
    """The mirror image of `_cron_first_from`."""
    cron = load_cron(ticks.expression)
    zone = load_zone(ticks.timezone)
    transition = transition_at(ticks.timezone, instant)
    if transition is not None:
        listed = _around(ticks, transition)
        if listed and listed[0] < instant:
            return listed[bisect_left(listed, instant) - 1]
        instant = transition.begin
    slot = cron.last_before(to_wall(instant, zone))
    if slot is None:
        return None
    candidate = max(to_instants(slot, zone))
    transition = transition_at(ticks.timezone, candidate)
    if transition is None:
        return candidate
    listed = _around(ticks, transition)
    return listed[bisect_left(listed, instant) - 1]


@lru_cache(maxsize=1024)
def _around(ticks: CronTicks, transition: Transition) -> tuple[datetime, ...]:
    """Every tick from `transition.begin` up to, not including, `transition.end`, in order."""
    cron = load_cron(ticks.expression)
    zone = load_zone(ticks.timezone)
    lowest = min(transition.before, transition.after)
    highest = max(transition.before, transition.after)
    wall = (transition.begin + lowest).replace(tzinfo=None)
    end = (transition.end + highest).replace(tzinfo=None)
    found: set[datetime] = set()
    while (slot := cron.first_from(wall)) is not None and slot < end:
        found.update(_instants(cron, *to_instants(slot, zone)))
        wall = slot + timedelta(minutes=1)
    return tuple(sorted(one for one in found if transition.begin <= one < transition.end))


def _instants(cron: Cron, first_pass: datetime, second_pass: datetime) -> set[datetime]:
    if cron.has_rhythm and first_pass < second_pass:
        return {first_pass, second_pass}
    return {max(first_pass, second_pass)}
