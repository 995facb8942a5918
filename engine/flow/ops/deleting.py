"""`flow runs delete`: runs that have ended disappear."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from flow.errors import Conflict
from flow.graph import decode
from flow.graph.plan import plan
from flow.ops.deployment import Deployment
from flow.ops.references import find_dags
from flow.ops.run_ranges import Which, find_runs
from flow.states import FINISHED_RUNS, RunState, RunType
from flow.store import (
    cancelling,
    clock,
    notify,
    past,
    run_locks,
    schedule,
    specs,
    stopping,
    wakeups,
)
from flow.store.connect import Conn
from flow.store.read import tasks
from flow.store.read.dags import StoredDag
from flow.store.read.runs import FoundRun
from flow.store.run_locks import LockedRun
from flow.timetables import Once


class DeletedRun(NamedTuple):
    """A run that is gone, with so many task instances."""

    run_id: str
    state: RunState
    tasks: int


class Deleting(NamedTuple):
    """What deleting did, or would do. `comes_again`: the DAG runs once, and now once more."""

    dag_id: str
    runs: list[DeletedRun]
    comes_again: bool


def delete(
    deployment: Deployment,
    dag_id: str,
    which: Which,
    only: Collection[str] | None = None,
    *,
    dry_run: bool = False,
) -> Deleting:
    """Delete runs with their tasks, tries and XComs; the logs stay where they are.

    The schedule does not go back, so it makes none of them again, except for a DAG that runs once.
    `only` narrows it to runs with these ids. Raises `Conflict` when one of them is active, or a
    process of it still being stopped, and `NotFound`.
    """
    conn = deployment.conn
    with deployment.change("runs.delete") as change:
        (dag,) = find_dags(conn, [dag_id], lock=True)
        found = [
            one for one in find_runs(conn, dag, which) if only is None or one.run.run_id in only
        ]
        locked = run_locks.lock(conn, [one.run_key for one in found])
        _require_ended(conn, dag_id, locked)
        run_keys = [one.run_key for one in locked]
        instances: Counter[int] = Counter()
        for counted in tasks.counts(conn, run_keys):
            instances[counted.run_key] += counted.instances
        once = _is_the_one(conn, dag, found)
        if locked and not dry_run:
            past.wake_followers(conn, [(run_key, None) for run_key in run_keys])
            cancelling.delete(conn, run_keys)
            if once:
                _begin_anew(conn, dag)
            wakeups.wake_named(conn, [("dag", dag_id)])
            for one in locked:
                change.log(f"{dag_id}/{one.run_id}", {"state": one.state, "version": one.version})
            change.tell(notify.WAKE)
    deleted = [
        DeletedRun(one.run_id, RunState(one.state), instances[one.run_key]) for one in locked
    ]
    return Deleting(dag_id, deleted, once)


def _require_ended(conn: Conn, dag_id: str, locked: Sequence[LockedRun]) -> None:
    active = [one for one in locked if RunState(one.state) not in FINISHED_RUNS]
    if active:
        raise Conflict(
            f"run {active[0].run_id!r} of DAG {dag_id!r} is {active[0].state} and is not deleted",
            f"cancel it first: flow runs cancel {dag_id} {active[0].run_id}",
        )
    left = stopping.of_runs(conn, [one.run_key for one in locked])
    if left:
        (_, task_id, _), *_ = left
        raise Conflict(
            f"the process of {task_id!r} is still being stopped",
            "try again in a moment: its run could be made anew before it is dead",
        )


def _is_the_one(conn: Conn, dag: StoredDag, found: Sequence[FoundRun]) -> bool:
    """Whether the DAG runs once, and its run is among these."""
    if not any(one.run.run_type == RunType.SCHEDULED for one in found):
        return False
    spec = decode(specs.load(conn, [dag.spec_hash])[dag.spec_hash])
    return isinstance(spec.timetable, Once)


def _begin_anew(conn: Conn, dag: StoredDag) -> None:
    spec = decode(specs.load(conn, [dag.spec_hash])[dag.spec_hash])
    planned = plan(spec, None, clock.now(conn))
    schedule.move(conn, [schedule.position(dag.dag_id, None, planned)])
