"""Where a DAG's schedule goes on, from its spec."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from flow.graph.spec import DagSpec
from flow.timetables import (
    Catchup,
    Interval,
    Planned,
    Timetable,
    intervals_from,
    opening_cursor,
    plan_next,
)


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
    """The next runs in order, without end where the schedule has none.

    Of those that wait for each other only the next one is known.
    """
    while (planned := plan(spec, cursor, now)) is not None:
        yield planned
        if planned.alone:
            return
        cursor = planned.next_cursor


def intervals(spec: DagSpec, not_before: datetime) -> Iterator[Interval]:
    """All intervals that get a run and start at `not_before` or later, whether they have one."""
    first = not_before if spec.start_date is None else max(not_before, spec.start_date)
    for interval in intervals_from(spec.timetable, first, spec.start_date):
        if spec.end_date is not None and interval.start > spec.end_date:
            return
        yield interval


def cursor_from_now(spec: DagSpec, cursor: datetime | None, now: datetime) -> datetime | None:
    """Where a DAG begins, or goes on after a pause, an absence, or with another schedule.

    See `flow.timetables.opening_cursor`.
    """
    return opening_cursor(
        spec.timetable,
        start_date=spec.start_date,
        catchup=catchup(spec),
        cursor=cursor,
        now=now,
    )
