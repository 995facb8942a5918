"""`flow runs delete`: runs that have ended disappear."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from flow.errors import Conflict
from flow.graph.plan import plan
from flow.ops.deployment import Deployment
from flow.ops.references import find_dags, load_spec
from flow.ops.run_ranges import RunName, Which, find_runs
from flow.states import FINISHED_RUNS, RunState, RunType
from flow.store import (
    clock,
    deleting,
    notify,
    past,
    run_locks,
    schedule,
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

    dag_id: str
    run_id: str
    state: RunState
    tasks: int


class Deleting(NamedTuple):
    """What deleting did, or would do. `come_again` are DAGs that run once, and now once more."""

    runs: list[DeletedRun]
    come_again: list[str]

    @property
    def changes(self) -> int:
        """How many runs go."""
        return len(self.runs)


def delete(
    deployment: Deployment,
    dag: str,
    which: Which,
    only: Collection[RunName] | None = None,
    *,
    dry_run: bool = False,
) -> Deleting:
    """Delete runs with their tasks, tries and XComs; the logs stay where they are.

    The schedule does not go back, so it makes none of them again, except for a DAG that runs once.
    `only` narrows the runs. Raises `Conflict` when one of them is active, or a
    process of it still being stopped, and `NotFound`.
    """
    conn = deployment.conn
    with deployment.change("runs.delete") as change:
        found = find_runs(conn, dag, which, only)
        dags = find_dags(conn, sorted({one.run.dag_id for one in found}), lock=True)
        locked = run_locks.lock(conn, [one.run_key for one in found])
        require_ended(conn, locked)
        run_keys = [one.run_key for one in locked]
        instances: Counter[int] = Counter()
        for counted in tasks.counts(conn, run_keys):
            instances[counted.run_key] += counted.instances
        once = [stored for stored in dags if _is_the_one(conn, stored, found)]
        if locked and not dry_run:
            past.wake_followers(conn, [(run_key, None) for run_key in run_keys])
            deleting.delete(conn, run_keys)
            for stored in once:
                _begin_anew(conn, stored)
            wakeups.wake_named(conn, [("dag", stored.dag_id) for stored in dags])
            for one in locked:
                change.log(
                    f"{one.dag_id}/{one.run_id}", {"state": one.state, "version": one.version}
                )
            change.tell(notify.WAKE)
    deleted = [
        DeletedRun(one.dag_id, one.run_id, RunState(one.state), instances[one.run_key])
        for one in locked
    ]
    return Deleting(deleted, [one.dag_id for one in once])


def require_ended(conn: Conn, locked: Sequence[LockedRun]) -> None:
    """Raise `Conflict` where a locked run is active, or a process of it still being stopped."""
    active = [one for one in locked if RunState(one.state) not in FINISHED_RUNS]
    if active:
        raise Conflict(
            f"run {active[0].run_id!r} of DAG {active[0].dag_id!r} is {active[0].state} and is "
            "not deleted",
            f"cancel it first: flow runs cancel {active[0].dag_id} {active[0].run_id}",
        )
    left = stopping.of_runs(conn, [one.run_key for one in locked])
    if left:
        (_, task_id, _), *_ = left
        raise being_stopped(task_id)


def being_stopped(task_id: str) -> Conflict:
    """Why a run is not deleted of which a process still lives."""
    return Conflict(
        f"the process of {task_id!r} is still being stopped",
        "try again in a moment: its run could be made anew before it is dead",
    )


def _is_the_one(conn: Conn, dag: StoredDag, found: Sequence[FoundRun]) -> bool:
    """Whether the DAG runs once, and its run is among these."""
    of_dag = (one.run for one in found if one.run.dag_id == dag.dag_id)
    if not any(run.run_type == RunType.SCHEDULED for run in of_dag):
        return False
    spec = load_spec(conn, dag.spec_hash)
    return isinstance(spec.timetable, Once)


def _begin_anew(conn: Conn, dag: StoredDag) -> None:
    spec = load_spec(conn, dag.spec_hash)
    planned = plan(spec, None, clock.now(conn))
    schedule.move(conn, [schedule.position(dag.dag_id, None, planned)])
