"""Data intervals of a timetable: the next, the one after, the latest complete, the one at hand.

`anchor` is the DAG's start date, or None for a DAG without one. It places the boundaries of a
delta timetable and the one interval of `Once`; it does not limit what is answered (`plan` does).
Without an anchor the interval of `Once` is wherever one asks for it.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.timetables.boundaries import Recurring, first_after, first_from, last_before, last_until
from flow.timetables.timetable import Never, Once, Timetable
from flow.timetables.zone import as_utc


class Interval(NamedTuple):
    """A slice of time in UTC, with `start < end`; only the interval of `Once` is empty."""

    start: datetime
    end: datetime


def next_interval(
    timetable: Timetable, not_before: datetime, anchor: datetime | None = None
) -> Interval | None:
    """The first interval that starts at or after `not_before`; None if there is none."""
    moment = as_utc(not_before)
    match timetable:
        case Never():
            return None
        case Once():
            only = _only_moment(moment, anchor)
            return Interval(only, only) if only >= moment else None
        case _:
            origin = _origin(anchor)
            return _from_start(timetable, first_from(timetable, moment, origin), origin)


def interval_after(timetable: Timetable, interval: Interval) -> Interval | None:
    """The interval that touches the end of `interval`, one of the timetable's own."""
    match timetable:
        case Never() | Once():
            return None
        case _:
            # The end is a boundary itself, so it serves as the anchor.
            return _from_start(timetable, interval.end, interval.end)


def interval_at(
    timetable: Timetable, moment: datetime, anchor: datetime | None = None
) -> Interval | None:
    """The interval in progress: `start <= moment < end`. An empty one is never in progress."""
    match timetable:
        case Never() | Once():
            return None
        case _:
            origin = _origin(anchor)
            return _from_start(timetable, last_until(timetable, as_utc(moment), origin), origin)


def latest_complete(
    timetable: Timetable, now: datetime, anchor: datetime | None = None
) -> Interval | None:
    """The last interval that has ended at `now`: `end <= now`; None if there is none."""
    moment = as_utc(now)
    match timetable:
        case Never():
            return None
        case Once():
            only = _only_moment(moment, anchor)
            return Interval(only, only) if only <= moment else None
        case _:
            origin = _origin(anchor)
            end = last_until(timetable, moment, origin)
            start = last_before(timetable, end, origin) if end is not None else None
            return Interval(start, end) if start is not None and end is not None else None


def is_boundary(timetable: Timetable, moment: datetime, anchor: datetime | None = None) -> bool:
    """Whether an interval of the timetable starts exactly at `moment`."""
    found = next_interval(timetable, moment, anchor)
    return found is not None and found.start == moment


def neighbours(
    timetable: Timetable, moment: datetime, anchor: datetime | None = None
) -> tuple[datetime | None, datetime | None]:
    """The interval starts strictly before and strictly after `moment`, to name them to a user."""
    instant = as_utc(moment)
    match timetable:
        case Never():
            return None, None
        case Once():
            only = _only_moment(instant, anchor)
            return (only if only < instant else None), (only if only > instant else None)
        case _:
            origin = _origin(anchor)
            before = last_before(timetable, instant, origin)
            return before, first_after(timetable, instant, origin)


def _from_start(
    timetable: Recurring, start: datetime | None, origin: datetime | None
) -> Interval | None:
    end = first_after(timetable, start, origin) if start is not None else None
    return Interval(start, end) if start is not None and end is not None else None


def _only_moment(asked: datetime, anchor: datetime | None) -> datetime:
    return asked if anchor is None else as_utc(anchor)


def _origin(anchor: datetime | None) -> datetime | None:
    return None if anchor is None else as_utc(anchor)
