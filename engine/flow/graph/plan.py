"""Where a DAG's schedule goes on, from its spec."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from flow.graph.spec import DagSpec
from flow.timetables import Catchup, Planned, plan_next


def catchup(spec: DagSpec) -> Catchup:
    """The spec's catchup in the words of a timetable."""
    return "none" if spec.catchup == "none" else bool(spec.catchup)


def plan(spec: DagSpec, cursor: datetime | None, now: datetime) -> Planned | None:
    """The next run of a DAG whose schedule stands at `cursor`; see `flow.timetables.plan_next`."""
    return plan_next(
        spec.timetable,
        start_date=spec.start_date,
        end_date=spec.end_date,
        catchup=catchup(spec),
        cursor=cursor,
        now=now,
    )


def upcoming(spec: DagSpec, cursor: datetime | None, now: datetime) -> Iterator[Planned]:
    """The next runs in order, without end where the schedule has none."""
    while (planned := plan(spec, cursor, now)) is not None:
        yield planned
        cursor = planned.next_cursor


def cursor_after_pause(spec: DagSpec, cursor: datetime | None, now: datetime) -> datetime | None:
    """Where a DAG that was paused goes on: for catchup "none" at its next tick, else where it was.

    Intervals that ended while it was paused are then not made up for.
    """
    if catchup(spec) != "none":
        return cursor
    fresh = plan(spec, None, now)
    if fresh is None:
        return cursor
    return fresh.interval.start if cursor is None else max(cursor, fresh.interval.start)
