"""The task instances that a verb changes in one run or in many, all of them locked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flow.errors import Conflict, NotFound
from flow.graph import Graph
from flow.ops.references import load_graphs
from flow.ops.run_ranges import Which
from flow.ops.selection import Selected, everything, select
from flow.ops.task_references import TaskReference
from flow.states import FINISHED_RUNS, RunState, TaskState
from flow.store import instances, run_locks
from flow.store.connect import Conn
from flow.store.instances import Instance, Key
from flow.store.read.runs import FoundRun
from flow.store.run_locks import LockedRun


class Target(NamedTuple):
    """One instance. `has_row`: it is in the store; else it is in state none."""

    key: Key
    before: TaskState
    pool: str
    held: bool
    has_row: bool

    @property
    def reference(self) -> TaskReference:
        """What names it within its run."""
        return TaskReference(self.key[1], self.key[2])


class Targeted(NamedTuple):
    """A run with all its rows, and those of its instances that are meant, upstream first."""

    run: LockedRun
    graph: Graph
    rows: list[Instance]
    targets: list[Target]

    @property
    def state(self) -> RunState:
        """The run's state."""
        return RunState(self.run.state)

    @property
    def finished(self) -> bool:
        """Whether the run has ended, so that its rows are in history."""
        return self.state in FINISHED_RUNS

    @property
    def states(self) -> dict[str, TaskState]:
        """The states of its tasks that have rows and are not mapped."""
        return {row.task_id: TaskState(row.state) for row in self.rows if not row.map_path}


def lock_runs(conn: Conn, found: Sequence[FoundRun]) -> list[LockedRun]:
    """Lock runs, in the order given. Raises `Conflict` for archived ones, `NotFound` for none."""
    locked = {one.run_key: one for one in run_locks.lock(conn, [one.run_key for one in found])}
    if found and not locked:
        raise NotFound("the run has been deleted meanwhile", "there is nothing to do in it")
    archived = next((one for one in locked.values() if one.archived), None)
    if archived is not None:
        raise Conflict(
            f"run {archived.run_id!r} is archived, so its tasks cannot be changed",
            made_anew(archived.dag_id, archived.run_id),
        )
    return [locked[one.run_key] for one in found if one.run_key in locked]


def made_anew(dag_id: str, run_id: str) -> str:
    """What one can do instead of changing a run whose tasks are not in the store any more."""
    return (
        f"make it anew: flow runs delete {dag_id} {run_id}, then flow run {dag_id} "
        "(with --date for the run of an interval)"
    )


def lock_active(
    conn: Conn, found: Sequence[FoundRun], which: Which, otherwise: str
) -> list[LockedRun]:
    """Lock runs: those that have not ended.

    Raises what `lock_runs` raises, and `Conflict` for one alone that has; `otherwise` is the
    command that would do instead, with {run} for the names.
    """
    locked = lock_runs(conn, found)
    active = [one for one in locked if RunState(one.state) not in FINISHED_RUNS]
    if not active and which.reference is not None and locked:
        (ended, *_) = locked
        raise Conflict(
            f"run {ended.run_id!r} of DAG {ended.dag_id!r} has ended: {ended.state}",
            otherwise.format(run=f"{ended.dag_id} {ended.run_id}"),
        )
    return active


def lock_targets(conn: Conn, runs: Sequence[LockedRun], selection: str | None) -> list[Targeted]:
    """Lock the selected instances of locked runs; None: all of them.

    Of runs of several versions, those are left out in which nothing is selected. Raises `NotFound`
    when that is so in all of them, and for a mapped instance that a run does not have.
    """
    graphs = load_graphs(conn, (one.spec_hash for one in runs))
    selected = _selected(graphs, selection)
    chosen = [one for one in runs if one.spec_hash in selected]
    run_keys = [one.run_key for one in chosen]
    task_ids = {task_id for one in selected.values() for task_id in one.instances}
    instances.lock(conn, run_keys, None if selection is None else task_ids)
    rows = instances.read(conn, run_keys)
    return [
        Targeted(
            run,
            graphs[run.spec_hash],
            rows[run.run_key],
            _targets(run, graphs[run.spec_hash], selected[run.spec_hash], rows[run.run_key]),
        )
        for run in chosen
    ]


def _selected(graphs: dict[str, Graph], selection: str | None) -> dict[str, Selected]:
    if selection is None:
        return {key: everything(graph) for key, graph in graphs.items()}
    found, missing = {}, []
    for key, graph in graphs.items():
        try:
            found[key] = select(graph, selection)
        except NotFound as error:
            missing.append(error)
    if missing and not found:
        raise missing[0]
    return found


def _targets(
    run: LockedRun, graph: Graph, selected: Selected, rows: Sequence[Instance]
) -> list[Target]:
    by_task: dict[str, list[Target]] = {}
    for row in rows:
        if selected.has(row.task_id, row.map_path):
            target = Target(row.key, TaskState(row.state), row.pool, row.held, has_row=True)
            by_task.setdefault(row.task_id, []).append(target)
    targets = []
    for task_id, paths in selected.instances.items():
        if task_id in by_task:
            targets += by_task[task_id]
        elif paths is None:
            pool = graph.tasks[task_id].pool
            key = run.run_key, task_id, ()
            targets.append(Target(key, TaskState.NONE, pool, held=False, has_row=False))
    missing = {
        TaskReference(task_id, path)
        for task_id, paths in selected.instances.items()
        for path in paths or ()
    } - {target.reference for target in targets}
    if missing:
        raise NotFound(
            f"run {run.run_id!r} has no {', '.join(sorted(map(str, missing)))}",
            f"`flow tasks list {run.dag_id} {run.run_id}` shows its tasks",
        )
    return targets
