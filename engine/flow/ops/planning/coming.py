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
from flow.store.connect import Conn
from flow.store.read import dags
from flow.store.read.dags import StoredDag
from flow.store.read.page import COUNTED, Page, Total, total
from flow.timetables.zone import load_zone

_DAY: Final = timedelta(days=1)
_AT_ONCE: Final = 500
"""DAGs that are looked at before it is asked whether that was enough."""


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


class _Span(NamedTuple):
    """From now on: the runs that are made from `first`, if there is one, to `last`."""

    now: datetime
    first: datetime | None
    last: datetime


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
        page = _page(conn, _Span(now, first, last), limit)
        return Coming(page, dags.paused(conn))


def _page(conn: Conn, span: _Span, limit: int | None) -> Page[ComingRun]:
    """The first runs, from as few DAGs as it takes to know them.

    No DAG has a run before its turn comes, so a run that comes before the turns of all DAGs that
    have not been looked at has its place.
    """
    found: list[ComingRun] = []
    behind: StoredDag | None = None
    while batch := dags.due(conn, span.last, behind, _AT_ONCE):
        found = list(islice(heapq.merge(found, *_runs_of(conn, batch, span)), _most(limit)))
        behind = batch[-1]
        if limit is not None and len(batch) == _AT_ONCE and len(found) > limit:
            run, turn = found[limit - 1], behind.next_run_at
            assert turn is not None  # it is due
            if (run.run_at, run.dag_id) <= (turn, behind.dag_id):
                return Page(found[:limit], Total(limit, exact=False))
    return Page(found[:limit], total(len(found)))


def _most(limit: int | None) -> int | None:
    """How many runs are counted."""
    return None if limit is None else max(limit, COUNTED) + 1


def _runs_of(conn: Conn, batch: list[StoredDag], span: _Span) -> list[Iterator[ComingRun]]:
    bodies = specs.load(conn, {dag.spec_hash for dag in batch}, heads=True)
    known = dag_intervals.complete(
        conn, {dag.dag_id: decode(bodies[dag.spec_hash]) for dag in batch}
    )
    return [_runs(known[dag.dag_id], dag.cursor_at, span) for dag in batch]


def _runs(spec: DagSpec, cursor: datetime | None, span: _Span) -> Iterator[ComingRun]:
    zone = load_zone(spec.timezone)
    coming = upcoming(spec, cursor, span.now)
    for planned in takewhile(lambda one: one.due_at <= span.last, coming):
        if span.first is None or planned.due_at >= span.first:
            moments = (planned.interval.start, planned.interval.end)
            start, end = (moment.astimezone(zone) for moment in moments)
            yield ComingRun(planned.due_at.astimezone(zone), spec.dag_id, start, end)
