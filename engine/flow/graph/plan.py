"""Where a DAG's schedule goes on, from its spec."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from flow.graph.spec import DagSpec
from flow.timetables import Catchup, Once, Planned, Timetable, plan_next


def catchup(spec: DagSpec) -> Catchup:
    """The spec's catchup in the words of a timetable."""
    return "none" if spec.catchup == "none" else bool(spec.catchup)


def plan(spec: DagSpec, cursor: datetime | None, now: datetime) -> Planned | None:
    """The next run of a DAG whose schedule stands at `cursor`; see `flow.timetables.plan_next`."""
    return _plan(spec.timetable, spec.start_date, spec.end_date, catchup(spec), cursor, now)


@lru_cache(maxsize=1_024)
def _plan(
    timetable: Timetable,
    start_date: datetime | None,
    end_date: datetime | None,
    catchup: Catchup,
    cursor: datetime | None,
    now: datetime,
) -> Planned | None:
    """DAGs that fall due together mostly stand at the same place of the same schedule."""
    return plan_next(
        timetable,
        start_date=start_date,
        end_date=end_date,
        catchup=catchup,
        cursor=cursor,
        now=now,
    )


def upcoming(spec: DagSpec, cursor: datetime | None, now: datetime) -> Iterator[Planned]:
    """The next runs in order, without end where the schedule has none."""
    while (planned := plan(spec, cursor, now)) is not None:
        yield planned
        cursor = planned.next_cursor


def cursor_from_now(spec: DagSpec, cursor: datetime | None, now: datetime) -> datetime | None:
    """Where a DAG begins, goes on after a pause or an absence, or goes on with another schedule or
    catchup: for catchup "none" at its next tick.

    Intervals that ended before that are then not made up for. The cursor has to hold the
    interval that is in progress now: planned again after its end without one, it would be the next
    one, for ever. With any other catchup, and for `Once`, the schedule stays where it is.
    """
    if catchup(spec) != "none" or isinstance(spec.timetable, Once):
        return cursor
    fresh = plan(spec, None, now)
    if fresh is None:
        return cursor
    return fresh.interval.start if cursor is None else max(cursor, fresh.interval.start)
