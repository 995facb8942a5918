"""Which interval of a DAG gets the next scheduled run, and when.

The schedule's position is the DAG's *cursor*: no interval that starts before it will be planned;
None while nothing has been planned. Runs are never consulted, so deleting a run re-creates nothing.
The caller stores `Planned.next_cursor` in the transaction that creates the run. For `Once` any
cursor means that the one run has been made.

The current definition wins. When the schedule or the start date changes, planning goes on at the
first interval of the new schedule that starts neither before the start date nor before the cursor:
no new interval overlaps an old one, and the time from the cursor to that interval stays uncovered.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.timetables.kind import Catchup, Interval, Kind
from flow.timetables.zone import as_utc


class Planned(NamedTuple):
    """The next run of a schedule, to be created as soon as `due_at` is reached.

    `alone`: not before every other run of the DAG has finished.
    """

    interval: Interval
    due_at: datetime
    next_cursor: datetime
    alone: bool = False


def plan_next(
    timetable: Kind,
    *,
    start_date: datetime | None,
    end_date: datetime | None,
    catchup: Catchup,
    cursor: datetime | None,
    now: datetime,
) -> Planned | None:
    """The next run to create, due now or later; None when the schedule has nothing more.

    - The first interval is the first one that starts at or after `start_date`. Without a start date
      it is the latest complete one, or for catchup "none" the one that ends next; of event dates
      with catchup True, the first.
    - With catchup False or "none" no interval older than the latest complete one is planned.
      Without a cursor, "none" plans none that has ended either.
    - `end_date` is inclusive and is compared with the logical date, the interval's start.
    """
    start_date = _utc(start_date)
    interval = timetable.coming(start_date, catchup, _utc(cursor), as_utc(now))
    if interval is None or (end_date is not None and interval.start > as_utc(end_date)):
        return None
    following = timetable.cursor_after(interval, start_date)
    return Planned(interval, due_at=interval.end, next_cursor=following, alone=timetable.alone)


def opening_cursor(
    timetable: Kind,
    *,
    start_date: datetime | None,
    catchup: Catchup,
    cursor: datetime | None,
    now: datetime,
) -> datetime | None:
    """The cursor with which a DAG begins, when it has none yet, or goes on after a pause."""
    return timetable.opening(_utc(start_date), catchup, _utc(cursor), as_utc(now))


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else as_utc(moment)
