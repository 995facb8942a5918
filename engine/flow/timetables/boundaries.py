"""The instants at which a recurring timetable cuts time. The rules: package docstring."""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import assert_never

from flow.timetables.cron import Cron, load_cron
from flow.timetables.timetable import CronInterval, DeltaInterval
from flow.timetables.zone import Transition, load_zone, to_instants, to_wall, transition_at

Recurring = CronInterval | DeltaInterval

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta.resolution
_SECOND = timedelta(seconds=1)
_END = datetime.max.replace(tzinfo=UTC)


def first_from(timetable: Recurring, instant: datetime, anchor: datetime | None) -> datetime | None:
    """The first boundary at or after `instant`; None in the last days of the calendar (9999)."""
    try:
        match timetable:
            case CronInterval():
                return _cron_first_from(timetable, _whole_second(instant))
            case DeltaInterval():
                return _delta_last_before(timetable, instant, anchor) + _length(timetable)
            case _:
                assert_never(timetable)
    except OverflowError:
        return None


def last_before(
    timetable: Recurring, instant: datetime, anchor: datetime | None
) -> datetime | None:
    """The last boundary strictly before `instant`; None in the first days of the calendar."""
    try:
        match timetable:
            case CronInterval():
                return _cron_last_before(timetable, _whole_second(instant))
            case DeltaInterval():
                return _delta_last_before(timetable, instant, anchor)
            case _:
                assert_never(timetable)
    except OverflowError:
        return None


def first_after(
    timetable: Recurring, instant: datetime, anchor: datetime | None
) -> datetime | None:
    """The first boundary strictly after `instant`."""
    return first_from(timetable, instant + _TICK, anchor) if instant < _END else None


def last_until(timetable: Recurring, instant: datetime, anchor: datetime | None) -> datetime | None:
    """The last boundary at or before `instant`."""
    return last_before(timetable, min(instant, _END - _TICK) + _TICK, anchor)


def _length(timetable: DeltaInterval) -> timedelta:
    return timedelta(seconds=timetable.seconds)


def _delta_last_before(
    timetable: DeltaInterval, instant: datetime, anchor: datetime | None
) -> datetime:
    origin = anchor or _EPOCH
    length = _length(timetable)
    return origin + (instant - _TICK - origin) // length * length


def _whole_second(instant: datetime) -> datetime:
    """The instant itself, or the next whole second.

    Boundaries of a cron lie on whole seconds of UTC, so the answers are the same; but all DAGs
    that become due in one second, mostly of few distinct crons, then ask the same question.
    """
    return instant if not instant.microsecond else instant.replace(microsecond=0) + _SECOND


@lru_cache(maxsize=4096)
def _cron_first_from(timetable: CronInterval, instant: datetime) -> datetime | None:
    """Follow the slots in wall order, except around a transition, where they are listed.

    Away from transitions the order of wall times is the order of instants, so one step of the
    cron is enough, however far it leads.
    """
    cron = load_cron(timetable.expression)
    zone = load_zone(timetable.timezone)
    transition = transition_at(timetable.timezone, instant)
    if transition is not None:
        listed = _around(timetable, transition)
        if listed and listed[-1] >= instant:
            return listed[bisect_left(listed, instant)]
        instant = transition.end
    slot = cron.first_from(to_wall(instant, zone))
    if slot is None:
        return None
    candidate = max(to_instants(slot, zone))
    transition = transition_at(timetable.timezone, candidate)
    if transition is None:
        return candidate
    listed = _around(timetable, transition)
    return listed[bisect_left(listed, instant)]


@lru_cache(maxsize=4096)
def _cron_last_before(timetable: CronInterval, instant: datetime) -> datetime | None:
    """The mirror image of `_cron_first_from`."""
    cron = load_cron(timetable.expression)
    zone = load_zone(timetable.timezone)
    transition = transition_at(timetable.timezone, instant)
    if transition is not None:
        listed = _around(timetable, transition)
        if listed and listed[0] < instant:
            return listed[bisect_left(listed, instant) - 1]
        instant = transition.begin
    slot = cron.last_before(to_wall(instant, zone))
    if slot is None:
        return None
    candidate = max(to_instants(slot, zone))
    transition = transition_at(timetable.timezone, candidate)
    if transition is None:
        return candidate
    listed = _around(timetable, transition)
    return listed[bisect_left(listed, instant) - 1]


@lru_cache(maxsize=1024)
def _around(timetable: CronInterval, transition: Transition) -> tuple[datetime, ...]:
    """Every boundary from `transition.begin` up to, not including, `transition.end`, in order."""
    cron = load_cron(timetable.expression)
    zone = load_zone(timetable.timezone)
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
