"""`flow dags next`: the runs that a DAG's schedule makes, from now on or from any date."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from flow.dates import parse_date
from flow.graph import DagSpec
from flow.graph.plan import intervals, upcoming
from flow.ops.deployment import Deployment
from flow.ops.references import find_dag, load_graph
from flow.store import clock
from flow.timetables import Interval
from flow.timetables.zone import load_zone


class NextRun(NamedTuple):
    """A run that the schedule makes. Dates in the DAG's time zone."""

    data_interval_start: datetime
    data_interval_end: datetime
    run_at: datetime


class NextRuns(NamedTuple):
    """What a schedule makes, and in words when."""

    dag_id: str
    schedule: str
    paused: bool
    present: bool
    runs: list[NextRun]


def next_runs(deployment: Deployment, dag_id: str, limit: int, date: str | None = None) -> NextRuns:
    """The next runs of a DAG, `limit` at most.

    From where its schedule stands, as a scheduler creates them; or, with a `date` as on the command
    line, those of the intervals that start then or later, whether their runs exist or not. Both end
    with the DAG's `end_date`. Raises `NotFound`, or `UsageError` for a date that cannot be read.
    """
    conn = deployment.conn
    with deployment.snapshot():
        stored = find_dag(conn, dag_id)
        spec = load_graph(conn, stored.spec_hash).spec
        now = clock.now(conn)
    found: Iterator[Interval]
    if date is None:
        found = (planned.interval for planned in upcoming(spec, stored.cursor_at, now))
    else:
        found = intervals(spec, parse_date(date, load_zone(spec.timezone), now).start)
    return NextRuns(
        dag_id=dag_id,
        schedule=spec.timetable.words(),
        paused=stored.paused,
        present=stored.present,
        runs=in_zone(spec, islice(found, limit)),
    )


def in_zone(spec: DagSpec, intervals: Iterable[Interval]) -> list[NextRun]:
    """The runs of intervals as lists show them."""
    zone = load_zone(spec.timezone)
    return [
        NextRun(one.start.astimezone(zone), one.end.astimezone(zone), one.end.astimezone(zone))
        for one in intervals
    ]
