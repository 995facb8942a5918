"""`flow run`: making a run by hand."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final, NamedTuple

from flow.dates import parse_date
from flow.errors import Conflict, UsageError
from flow.graph import DagSpec
from flow.ops import intervals, run_ids
from flow.ops.conf import read_conf
from flow.ops.deployment import Deployment
from flow.ops.intervals import Slice
from flow.ops.references import find_dag, load_spec, require_present
from flow.states import RunState, RunType
from flow.store import clock, dag_intervals, deleting, notify, runs, wakeups
from flow.store.connect import Conn
from flow.store.read import runs as stored
from flow.store.read.dags import StoredDag
from flow.store.read.runs import FoundRun
from flow.store.runs import NewRun
from flow.timetables.zone import load_zone

_ATTEMPTS: Final = 1_000
"""Ids by the microsecond are free at the first attempt, or soon after."""


class Wish(NamedTuple):
    """What somebody asks for. Dates are texts as on the command line; at most one of both."""

    dag_id: str
    date: str | None = None
    interval: tuple[str, str] | None = None
    run_id: str | None = None
    conf: str | None = None
    """JSON object; None: an empty one."""


class Started(NamedTuple):
    """The run that was made. It stays queued as long as its DAG is `paused`."""

    found: FoundRun
    paused: bool


def run(deployment: Deployment, wish: Wish) -> Started:
    """Make a run, queued; a scheduler starts it as the DAG's limit of active runs allows.

    Raises `Conflict` when the interval or the id has a run already, `UsageError` for a date that
    is no interval's start, an illegal id or a conf that is no JSON object.
    """
    conf = read_conf(wish.conf)
    if wish.run_id is not None:
        run_ids.check(wish.run_id)
    if wish.date is not None and wish.interval is not None:
        raise UsageError("a run has a date or an interval", "leave out --date or --interval")
    conn = deployment.conn
    with deployment.change("run") as change:
        deleting.prevent(conn, wish.dag_id)
        dag = find_dag(conn, wish.dag_id)
        require_present(dag, "it cannot be run")
        spec = dag_intervals.completed(conn, load_spec(conn, dag.spec_hash))
        found = _create(conn, dag, spec, wish, conf)
        wakeups.wake_named(conn, [("dag", dag.dag_id)])
        made = found.run
        change.log(
            f"{made.dag_id}/{made.run_id}",
            after={
                "logical_date": made.logical_date.isoformat(),
                "data_interval_start": made.data_interval_start.isoformat(),
                "data_interval_end": made.data_interval_end.isoformat(),
                "version": made.version,
            },
        )
        change.tell(notify.WAKE)
    return Started(found, dag.paused)


def _create(
    conn: Conn, dag: StoredDag, spec: DagSpec, wish: Wish, conf: dict[str, Any]
) -> FoundRun:
    for _ in range(_ATTEMPTS):
        now = clock.now(conn)
        slice_ = _slice(spec, wish, now)
        own_id = (
            run_ids.of_interval(slice_.logical_date) if slice_.interval_run else run_ids.ad_hoc(now)
        )
        run_id = wish.run_id or own_id
        new = NewRun(
            dag_id=dag.dag_id,
            run_id=run_id,
            run_type=RunType.MANUAL,
            state=RunState.QUEUED,
            version=dag.version,
            logical_date=slice_.logical_date,
            start=slice_.interval.start,
            end=slice_.interval.end,
            interval_run=slice_.interval_run,
            conf=json.dumps(conf),
        )
        if runs.create(conn, [new]):
            break
        if slice_.interval_run or wish.run_id is not None:
            raise _exists(conn, spec, new)
    found = stored.by_id(conn, dag.dag_id, run_id)
    if found is None:
        raise Conflict(f"a run {run_id!r} of DAG {dag.dag_id!r} is being made", "try again")
    return found


def _slice(spec: DagSpec, wish: Wish, now: datetime) -> Slice:
    zone = load_zone(spec.timezone)
    if wish.date is not None:
        return intervals.of_date(spec, parse_date(wish.date, zone, now).start)
    if wish.interval is not None:
        start, end = (parse_date(text, zone, now).start for text in wish.interval)
        return intervals.of_interval(spec, start, end)
    return intervals.ad_hoc(spec, now)


def _exists(conn: Conn, spec: DagSpec, new: NewRun) -> Conflict:
    again = f"to run it again: flow clear {new.dag_id}"
    same_id = stored.by_id(conn, new.dag_id, new.run_id)
    same_interval = stored.by_interval(conn, new.dag_id, new.start, new.start)
    if new.interval_run and same_interval:
        run = same_interval[0].run
        start = new.start.astimezone(load_zone(spec.timezone)).isoformat()
        return Conflict(
            f"the run of DAG {new.dag_id!r} for {start} already exists: {run.run_id} ({run.state})",
            f"{again} {run.run_id}",
        )
    state = f" ({same_id.run.state})" if same_id else ""
    return Conflict(
        f"run {new.run_id!r} of DAG {new.dag_id!r} already exists{state}",
        f"choose another --run-id, or {again} {new.run_id}",
    )
