"""`flow runs cancel`: runs end now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from flow.errors import Conflict
from flow.graph import Graph
from flow.ops.deployment import Change, Deployment
from flow.ops.references import find_dag, load_graphs
from flow.ops.run_ranges import Which, find_runs
from flow.states import FINISHED, FINISHED_RUNS, OCCUPYING, RunState, TaskState
from flow.store import (
    audit,
    cancelling,
    gates,
    instances,
    notify,
    past,
    run_locks,
    runs,
    stopping,
    tasks,
    wakeups,
)
from flow.store.connect import Conn
from flow.store.instances import Instance
from flow.store.run_locks import LockedRun
from flow.store.runs import EndedRun
from flow.store.tasks import NewTask

REASON: Final = "cancelled"
"""How the reason of a cancelled run begins."""
_WITH_A_PROCESS: Final = (TaskState.RUNNING, TaskState.RESTARTING)


class CancelledRun(NamedTuple):
    """What becomes of one run: `stopped` tasks were running, `skipped` ones had not ended either.

    Both are skipped, those that have no row yet, too.
    """

    run_id: str
    before: RunState
    after: RunState
    stopped: list[str]
    skipped: list[str]


class Cancelling(NamedTuple):
    """What cancelling did, or would do."""

    dag_id: str
    looked_at: int
    runs: list[CancelledRun]


class _Cancel(NamedTuple):
    run: LockedRun
    graph: Graph
    rows: list[Instance]
    """Those that have not ended."""
    rowless: list[str]


def cancel(
    deployment: Deployment,
    dag_id: str,
    which: Which,
    only: Collection[str] | None = None,
    *,
    dry_run: bool = False,
) -> Cancelling:
    """End runs as failed, with the reason `cancelled` and without any callback.

    What runs is stopped, and whatever has not ended is skipped. Of a range, runs that have ended
    are left alone; one alone that has ended is a `Conflict`. `only` narrows it to runs with these
    ids. Raises `NotFound`.
    """
    conn = deployment.conn
    with deployment.change("runs.cancel") as change:
        dag = find_dag(conn, dag_id)
        found = [
            one for one in find_runs(conn, dag, which) if only is None or one.run.run_id in only
        ]
        locked = run_locks.lock(conn, [one.run_key for one in found])
        active = [one for one in locked if RunState(one.state) not in FINISHED_RUNS]
        if not active and which.reference is not None and found:
            run = found[0].run
            raise Conflict(
                f"run {run.run_id!r} of DAG {dag_id!r} has ended: {run.state}",
                f"to change its verdict, mark its tasks: flow tasks mark {dag_id} {run.run_id}",
            )
        done = end_now(conn, change, dag_id, active, dry_run=dry_run)
    return Cancelling(dag_id, len(found), done)


def end_now(
    conn: Conn, change: Change, dag_id: str, active: Sequence[LockedRun], *, dry_run: bool
) -> list[CancelledRun]:
    """Cancel locked runs that have not ended, all of one DAG; what becomes of them."""
    cancels = _look(conn, active)
    shown = [_shown(one) for one in cancels]
    if cancels and not dry_run:
        _write(conn, cancels)
        _wake(conn, dag_id, cancels)
        for one in shown:
            change.log(
                f"{dag_id}/{one.run_id}",
                {"state": one.before.value},
                {"state": one.after.value, "tasks": [*one.stopped, *one.skipped]},
            )
        change.tell(notify.STOP)
        change.tell(notify.WAKE)
    return shown


def _look(conn: Conn, active: Sequence[LockedRun]) -> list[_Cancel]:
    run_keys = [one.run_key for one in active]
    instances.lock(conn, run_keys)
    rows = instances.read(conn, run_keys)
    graphs = load_graphs(conn, (one.spec_hash for one in active))
    found = []
    for one in active:
        graph = graphs[one.spec_hash]
        known = {row.task_id for row in rows[one.run_key]}
        open_ = [row for row in rows[one.run_key] if TaskState(row.state) not in FINISHED]
        rowless = [task_id for task_id in graph.order if task_id not in known]
        found.append(_Cancel(one, graph, open_, rowless))
    return found


def _shown(one: _Cancel) -> CancelledRun:
    running = [row for row in one.rows if row.state in _WITH_A_PROCESS]
    others = [row for row in one.rows if row.state not in _WITH_A_PROCESS]
    return CancelledRun(
        run_id=one.run.run_id,
        before=RunState(one.run.state),
        after=RunState.FAILED,
        stopped=[row.reference for row in running],
        skipped=[*(row.reference for row in others), *one.rowless],
    )


def _write(conn: Conn, cancels: Sequence[_Cancel]) -> None:
    reason = f"{REASON} by {audit.os_user()}"
    stopping.add(conn, [row.key for one in cancels for row in one.rows])
    run_keys = [one.run.run_key for one in cancels]
    cancelling.skip(conn, run_keys, reason)
    tasks.insert(
        conn,
        [
            NewTask(
                one.run.run_key, one.run.dag_id, one.graph.tasks[task_id], TaskState.SKIPPED, reason
            )
            for one in cancels
            for task_id in one.rowless
        ],
    )
    runs.end(
        conn,
        [EndedRun(one.run.run_key, one.run.dag_id, RunState.FAILED, reason) for one in cancels],
    )


def _wake(conn: Conn, dag_id: str, cancels: Sequence[_Cancel]) -> None:
    """Let schedulers use the room that became free: of the DAG, for its queued runs and its tasks,
    and of pools with a size. Other runs may have waited for one of these.
    """
    past.wake_followers(conn, [(one.run.run_key, None) for one in cancels])
    freed = {row.pool for one in cancels for row in one.rows if TaskState(row.state) in OCCUPYING}
    gates.wake_freed(conn, freed)
    wakeups.wake_named(conn, [("dag", dag_id)])
