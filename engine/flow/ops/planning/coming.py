"""The runs that the schedulers will make, of all DAGs."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Final, NamedTuple

from flow.dates import parse_date
from flow.errors import UsageError
from flow.graph import DagSpec, decode
from flow.graph.plan import upcoming
from flow.ops.deployment import Deployment
from flow.store import clock, dag_intervals, specs
from flow.store.read import dags
from flow.store.read.page import COUNTED, Page, total
from flow.timetables.zone import load_zone

_DAY: Final = timedelta(days=1)


class ComingRun(NamedTuple):
    """A run that will be made. Moments in the time zone of its DAG."""

    run_at: datetime
    dag_id: str
    data_interval_start: datetime
    data_interval_end: datetime


class Coming(NamedTuple):
    """The runs in the order in which they are made, and how many DAGs make none as they are."""

    runs: Page[ComingRun]
    paused: int


def coming_runs(
    deployment: Deployment,
    *,
    start: str | None = None,
    end: str | None = None,
    limit: int | None = None,
) -> Coming:
    """The runs that are made between two dates, by default from now on for a day.

    Every DAG goes on where its schedule stands, so what is due already comes first. Raises
    `UsageError` for what is no date, and for an end before the start.
    """
    conn = deployment.conn
    zone = load_zone(deployment.settings.dags.default_timezone)
    with deployment.snapshot():
        now = clock.now(conn)
        first = None if start is None else parse_date(start, zone, now).start
        last = (first or now) + _DAY if end is None else parse_date(end, zone, now).end
        if last < (first or now):
            raise UsageError(
                f"the plan would end at {last.isoformat()}, before it begins",
                "give a later --to, or an earlier --from",
            )
        stored = [dag for dag in dags.stored(conn, dags.ids(conn)) if dag.present]
        active = [dag for dag in stored if not dag.paused]
        bodies = specs.load(conn, {dag.spec_hash for dag in active}, heads=True)
        known = dag_intervals.complete(
            conn, {dag.dag_id: decode(bodies[dag.spec_hash]) for dag in active}
        )
    runs = heapq.merge(
        *(_runs(known[dag.dag_id], dag.cursor_at, now, first, last) for dag in active)
    )
    found = list(islice(runs, COUNTED + 1 if limit is not None else None))
    return Coming(Page(found[:limit], total(len(found))), len(stored) - len(active))


def _runs(
    spec: DagSpec, cursor: datetime | None, now: datetime, first: datetime | None, last: datetime
) -> Iterator[ComingRun]:
    zone = load_zone(spec.timezone)
    for planned in takewhile(lambda one: one.due_at <= last, upcoming(spec, cursor, now)):
        if first is None or planned.due_at >= first:
            moments = (planned.interval.start, planned.interval.end)
            start, end = (moment.astimezone(zone) for moment in moments)
            yield ComingRun(planned.due_at.astimezone(zone), spec.dag_id, start, end)
