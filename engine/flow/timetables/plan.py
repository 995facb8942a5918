"""Which interval of a DAG gets the next scheduled run, and when.

The schedule's position is the DAG's *cursor*: the start of the first interval that has not been
planned yet, None while nothing has been planned. Runs are never consulted, so deleting a run
re-creates nothing. The caller stores `Planned.next_cursor` in the transaction that creates the
run. For `Once` any cursor means that the one run has been made.

The current definition wins. When the schedule or the start date changes, planning goes on at the
first boundary of the new schedule that is neither before the start date nor before the cursor: no
new interval overlaps an old one, and the time from the cursor to that boundary stays uncovered.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from flow.timetables.intervals import Interval, interval_at, latest_complete, next_interval
from flow.timetables.timetable import Never, Once, Timetable
from flow.timetables.zone import as_utc

Catchup = bool | Literal["none"]
"""True: every interval. False: the latest complete one. "none": as False, but a DAG without a
cursor begins with the interval in progress, so nothing runs before the next tick."""


class Planned(NamedTuple):
    """The next run of a schedule, to be created as soon as `due_at` is reached."""

    interval: Interval
    due_at: datetime
    next_cursor: datetime


def plan_next(
    timetable: Timetable,
    *,
    start_date: datetime | None,
    end_date: datetime | None,
    catchup: Catchup,
    cursor: datetime | None,
    now: datetime,
) -> Planned | None:
    """The next run to create, due now or later; None when the schedule has nothing more.

    - The first interval starts at the first boundary at or after `start_date`. Without a start
      date it is the latest complete one, or for catchup "none" the one in progress.
    - With catchup False or "none" no interval older than the latest complete one is planned.
      Without a cursor, "none" plans none older than the one in progress either. To make a DAG
      that was paused wait for its next tick, plan it without its cursor and store the interval's
      start as the cursor if that is later.
    - `end_date` is inclusive and is compared with the logical date, the interval's start.
    """
    start_date, cursor, now = _utc(start_date), _utc(cursor), as_utc(now)
    match timetable:
        case Never():
            return None
        case Once():
            interval = next_interval(timetable, start_date or now) if cursor is None else None
        case _:
            interval = _next_recurring(timetable, start_date, catchup, cursor, now)
    if interval is None or (end_date is not None and interval.start > as_utc(end_date)):
        return None
    return Planned(interval, due_at=interval.end, next_cursor=interval.end)


def _next_recurring(
    timetable: Timetable,
    start_date: datetime | None,
    catchup: Catchup,
    cursor: datetime | None,
    now: datetime,
) -> Interval | None:
    floor = _later(start_date, cursor)
    if catchup is True and floor is not None:
        return next_interval(timetable, floor, start_date)
    if catchup == "none" and cursor is None:
        oldest = interval_at(timetable, now, start_date)
    else:
        oldest = latest_complete(timetable, now, start_date)
    if floor is None or (oldest is not None and oldest.start >= floor):
        return oldest
    return next_interval(timetable, floor, start_date)


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    if one is None or other is None:
        return one or other
    return max(one, other)


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else as_utc(moment)
