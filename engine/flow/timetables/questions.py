"""Data intervals of a timetable: the next, the latest complete, the one at hand.

`anchor` is the DAG's start date, or None for a DAG without one. It places the ticks of a delta
timetable and the one interval of `Once`; it does not limit what is answered (`plan` does).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from flow.timetables.kind import Interval, Kind
from flow.timetables.ticks import END, TICK
from flow.timetables.zone import as_utc


def next_interval(
    timetable: Kind, not_before: datetime, anchor: datetime | None = None
) -> Interval | None:
    """The first interval that starts at or after `not_before`; None if there is none."""
    return timetable.first_from(as_utc(not_before), _origin(anchor))


def intervals_from(
    timetable: Kind, not_before: datetime, anchor: datetime | None = None
) -> Iterator[Interval]:
    """All intervals that start at or after `not_before`, in order; mostly without end."""
    origin = _origin(anchor)
    interval = timetable.first_from(as_utc(not_before), origin)
    while interval is not None:
        yield interval
        interval = timetable.first_from(_past(interval.start), origin)


def latest_complete(
    timetable: Kind, now: datetime, anchor: datetime | None = None
) -> Interval | None:
    """The last interval that has ended at `now`: `end <= now`; None if there is none."""
    return timetable.last_ended(as_utc(now), _origin(anchor))


def interval_of(
    timetable: Kind, logical_date: datetime, anchor: datetime | None = None
) -> Interval | None:
    """The interval of the run with that logical date; None where the timetable has none such.

    Without a schedule any date has one, an empty one, and so has `Once` without an anchor.
    """
    return timetable.starting_at(as_utc(logical_date), _origin(anchor))


def neighbours(
    timetable: Kind, moment: datetime, anchor: datetime | None = None
) -> tuple[datetime | None, datetime | None]:
    """The interval starts strictly before and strictly after `moment`, to name them to a user."""
    instant, origin = as_utc(moment), _origin(anchor)
    before = timetable.last_before(instant, origin)
    after = timetable.first_from(_past(instant), origin)
    return before.start if before else None, after.start if after else None


def _past(moment: datetime) -> datetime:
    return min(moment, END - TICK) + TICK


def _origin(anchor: datetime | None) -> datetime | None:
    return None if anchor is None else as_utc(anchor)
