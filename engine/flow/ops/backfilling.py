"""`flow backfill`: runs for the intervals of a range, as many at a time as somebody allows."""

from __future__ import annotations

import json
from typing import NamedTuple

from flow.decide.backfill import Action, Order, Reprocess
from flow.errors import Conflict, UsageError
from flow.graph import Graph
from flow.ops.backfill_plan import Asked, BackfillPlan, Range, find_intervals, plan
from flow.ops.conf import read_conf
from flow.ops.deployment import Deployment
from flow.ops.references import find_dags, load_graph, require_present
from flow.ops.run_ranges import bounds
from flow.ops.selection import select
from flow.store import audit, backfills, clock, dag_intervals, notify, wakeups
from flow.store.backfills import NewBackfill, NewInterval
from flow.store.connect import Conn
from flow.store.read import backfills as stored
from flow.store.read.backfills import Backfill
from flow.store.read.dags import StoredDag
from flow.timetables.zone import as_utc, load_zone


class Wish(NamedTuple):
    """What somebody asks for. Dates are texts as on the command line.

    Both ends are included, a day as a whole; without an end all intervals that have ended. `tasks`
    is a selection, None all tasks. `conf` is a JSON object for all runs; None: new ones get an
    empty one, and those that are done again keep theirs. `priority` is added to that of the tasks.
    `version`: the graph that runs have which are done again.
    """

    dag_id: str
    start: str
    end: str | None = None
    tasks: str | None = None
    order: Order = "oldest"
    reprocess: Reprocess = "none"
    max_active_runs: int | None = None
    conf: str | None = None
    priority: int = 0
    version: str = "latest"


class _Look(NamedTuple):
    plan: BackfillPlan
    run_keys: dict[str, int]
    """Of the runs that are there, by id."""


def preview(deployment: Deployment, wish: Wish) -> BackfillPlan:
    """What the backfill would do now. Raises what `create` raises."""
    _check(wish)
    conn = deployment.conn
    with deployment.snapshot():
        return _look(conn, _dag(conn, wish), wish).plan


def create(
    deployment: Deployment, wish: Wish, confirmed: BackfillPlan | None = None
) -> tuple[Backfill | None, BackfillPlan]:
    """Make a backfill; schedulers give its intervals their runs, as its limit has room for them.

    None where no interval has anything to be done. `confirmed` is what somebody has agreed to: then
    exactly that is done, or nothing. Raises `NotFound`; `UsageError` for a schedule without
    intervals and a range without any; `Conflict` for a DAG that is gone, an interval that another
    active backfill has, and when something else than `confirmed` would be done.
    """
    _check(wish)
    conn = deployment.conn
    with deployment.change("backfill") as change:
        dag = _dag(conn, wish, lock=True)
        look = _look(conn, dag, wish)
        if confirmed is not None and _what(look.plan) != _what(confirmed):
            raise Conflict(
                "what would be done is not what was shown any more: runs have come or gone on",
                "look again; with --yes it is done as it is at that moment",
            )
        if not look.plan.runs:
            return None, look.plan
        backfill_id = _store(conn, wish, look)
        wakeups.wake_named(conn, [("dag", dag.dag_id)])
        made = stored.one(conn, backfill_id)
        assert made is not None  # it has just been stored
        change.log(f"{made.dag_id}/backfill:{backfill_id}", after=_facts(made))
        change.tell(notify.WAKE)
    return made, look.plan


def _check(wish: Wish) -> None:
    read_conf(wish.conf)
    if wish.max_active_runs is not None and wish.max_active_runs < 1:
        raise UsageError("a backfill needs a run at a time", "give --max-active-runs 1 or more")


def _dag(conn: Conn, wish: Wish, *, lock: bool = False) -> StoredDag:
    (dag,) = find_dags(conn, [wish.dag_id], lock=lock)
    require_present(dag, "it cannot be run")
    return dag


def _look(conn: Conn, dag: StoredDag, wish: Wish) -> _Look:
    graph = load_graph(conn, dag.spec_hash)
    spec = dag_intervals.completed(conn, graph.spec)
    asked = _range(conn, dag, wish)
    runs = stored.interval_runs(conn, dag.dag_id, as_utc(asked.start), as_utc(asked.end))
    found, notes = find_intervals(spec, asked, runs)
    planned = plan(
        graph,
        Asked(wish.order, wish.reprocess, wish.version, wish.max_active_runs, _tasks(graph, wish)),
        found,
        {as_utc(run.start): run for run in runs},
        stored.durations(conn, dag.dag_id),
        notes,
    )
    _require_free(conn, planned)
    return _Look(planned, {run.existing.run_id: run.run_key for run in runs})


def _range(conn: Conn, dag: StoredDag, wish: Wish) -> Range:
    now = clock.now(conn)
    start, end, end_excluded = bounds(wish.start, wish.end, load_zone(dag.timezone), now)
    assert start is not None  # a wish has a start
    return Range(start, end or now, end_excluded, now)


def _tasks(graph: Graph, wish: Wish) -> list[str] | None:
    if wish.tasks is None:
        return None
    selected = select(graph, wish.tasks).instances
    single = [task_id for task_id, instances in selected.items() if instances is not None]
    if single:
        raise UsageError(
            f"a backfill runs tasks as a whole, and {single[0]} was named with an index",
            "name it without; `flow clear` takes single instances",
        )
    return list(selected)


def _require_free(conn: Conn, planned: BackfillPlan) -> None:
    """Refuse intervals that another backfill has, whatever has become of their runs."""
    starts = [one.data_interval_start for one in planned.intervals]
    taken = backfills.taken(conn, planned.dag_id, starts)
    if taken is not None:
        zone = planned.intervals[0].data_interval_start.tzinfo
        start = taken.start.astimezone(zone).isoformat()
        raise Conflict(
            f"backfill {taken.backfill_id} of DAG {planned.dag_id!r} has the interval from {start}",
            f"see how it is doing: flow backfills show {taken.backfill_id}",
        )


def _what(planned: BackfillPlan) -> object:
    """What somebody agrees to: what becomes of which interval, in which order, by which tasks."""
    intervals = [(one.data_interval_start, one.action, one.run_id) for one in planned.intervals]
    return intervals, planned.tasks, planned.max_active_runs


def _store(conn: Conn, wish: Wish, look: _Look) -> int:
    planned = look.plan
    new = NewBackfill(
        dag_id=planned.dag_id,
        tasks=planned.tasks,
        order=planned.order,
        reprocess=planned.reprocess,
        version=planned.version,
        max_active_runs=planned.max_active_runs,
        conf=None if wish.conf is None else json.dumps(read_conf(wish.conf)),
        priority=wish.priority,
        created_by=audit.os_user(),
    )
    return backfills.add(
        conn,
        new,
        [
            NewInterval(
                as_utc(one.data_interval_start),
                as_utc(one.data_interval_end),
                one.action,
                one.note,
                look.run_keys[one.run_id] if one.action is Action.SKIP and one.run_id else None,
            )
            for one in planned.intervals
        ],
    )


def _facts(made: Backfill) -> dict[str, object]:
    return {
        "dag_id": made.dag_id,
        "from": made.start.isoformat(),
        "to": made.end.isoformat(),
        "runs": made.total,
        "tasks": made.tasks,
        "order": made.order,
        "reprocess": made.reprocess,
        "version": made.version,
        "max_active_runs": made.max_active_runs,
        "priority": made.priority,
    }
