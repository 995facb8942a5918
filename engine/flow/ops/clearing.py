"""`flow clear`: tasks of runs are decided anew."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from flow.errors import Conflict, NotFound
from flow.graph import Graph
from flow.ops.clear_plan import Cleared, ClearedRun, Planned, Target, plan
from flow.ops.deployment import Change, Deployment
from flow.ops.references import find_dag, load_graphs
from flow.ops.run_ranges import Which, find_runs_of
from flow.ops.selection import Selected, everything, select, widen
from flow.ops.task_references import TaskReference
from flow.states import TaskState
from flow.store import (
    audit,
    clearing,
    gates,
    instances,
    marks,
    notify,
    past,
    run_locks,
    runs,
    stopping,
    tasks,
    wakeups,
)
from flow.store.connect import Conn
from flow.store.marks import Mark
from flow.store.read.dags import StoredDag
from flow.store.read.runs import FoundRun

Version = Literal["latest", "run"]


class Wish(NamedTuple):
    """What is to be cleared.

    `tasks` is a selection, None all tasks; `states` narrows it to instances in one of them.
    `version`: the graph that the runs have from then on, the DAG's latest one or their own.
    """

    dag_id: str
    which: Which
    tasks: str | None = None
    upstream: bool = False
    downstream: bool = False
    states: Collection[TaskState] | None = None
    version: Version = "latest"


class Clearing(NamedTuple):
    """What clearing did, or would do. Runs without anything to clear are left out.

    A run that had ended is queued, and starts as the DAG's limit of active runs allows, unless the
    DAG is `paused`.
    """

    dag_id: str
    paused: bool
    max_active_runs: int
    looked_at: list[FoundRun]
    runs: list[ClearedRun]

    @property
    def tasks(self) -> int:
        """How many task instances are cleared."""
        return sum(len(run.tasks) for run in self.runs)


def preview(deployment: Deployment, wish: Wish) -> Clearing:
    """What clearing would do now. Raises what `clear` raises."""
    conn = deployment.conn
    with deployment.snapshot():
        dag = _dag(conn, wish.dag_id)
        found = find_runs_of(conn, dag, wish.which)
        return _shown(dag, found, _plan(conn, dag, found, wish))


def clear(deployment: Deployment, wish: Wish, confirmed: Clearing | None = None) -> Clearing:
    """Clear task instances: their tasks get a full new set of tries, their numbers only grow.

    A running one is stopped, and runs again once its process is dead. A run that had ended goes
    back to the queue. `confirmed` is what somebody has agreed to: then exactly that is done, or
    nothing. Raises `NotFound`, and `Conflict` for archived runs, a DAG that is gone, and when
    something else than `confirmed` would be done.
    """
    conn = deployment.conn
    with deployment.change("clear") as change:
        dag = _dag(conn, wish.dag_id)
        found = confirmed.looked_at if confirmed else find_runs_of(conn, dag, wish.which)
        found = _lock(conn, found)
        planned = _plan(conn, dag, found, wish, lock=True)
        done = _shown(dag, found, planned)
        if confirmed is not None and _what(confirmed) != _what(done):
            raise Conflict(
                "what would be cleared is not what was shown any more: the runs have gone on",
                "look again; with --yes it is done as it is at that moment",
            )
        if planned:
            _write(conn, planned)
            _wake(conn, dag, planned)
            _announce(change, planned)
    return done


def _dag(conn: Conn, dag_id: str) -> StoredDag:
    dag = find_dag(conn, dag_id)
    if not dag.present:
        raise Conflict(
            f"DAG {dag.dag_id!r} is not in its file any more, so its tasks cannot run again",
            f"see `flow dags show {dag.dag_id}`",
        )
    return dag


def _lock(conn: Conn, found: Sequence[FoundRun]) -> list[FoundRun]:
    """The runs as they are once nobody else holds them, without those that were deleted."""
    locked = {run.run_key: run for run in run_locks.lock(conn, [one.run_key for one in found])}
    return [
        one._replace(
            spec_hash=now.spec_hash,
            archived=now.archived,
            run=one.run._replace(state=now.state, version=now.version),
        )
        for one in found
        if (now := locked.get(one.run_key)) is not None
    ]


def _plan(
    conn: Conn, dag: StoredDag, found: Sequence[FoundRun], wish: Wish, *, lock: bool = False
) -> list[Planned]:
    _require_rows(dag.dag_id, found)
    graphs = load_graphs(conn, {dag.spec_hash, *(one.spec_hash for one in found)})
    targets = _targets(dag, found, graphs, wish)
    run_keys = [one.run_key for one in found]
    if lock:
        instances.lock(conn, run_keys, _touched(found, graphs, targets))
    rows = instances.read(conn, run_keys)
    being_stopped = stopping.of_runs(conn, run_keys)
    planned = (
        plan(
            one,
            graphs[one.spec_hash],
            targets[one.run.version],
            rows[one.run_key],
            wish.states,
            being_stopped,
        )
        for one in found
        if one.run.version in targets
    )
    return [one for one in planned if one is not None]


def _require_rows(dag_id: str, found: Sequence[FoundRun]) -> None:
    archived = [one.run.run_id for one in found if one.archived]
    if archived:
        which = (
            f"run {archived[0]!r} is archived, so its tasks"
            if len(found) == 1
            else f"{len(archived)} of {len(found)} runs are archived, so their tasks"
        )
        raise Conflict(
            f"{which} cannot be cleared",
            f"bring it back first: flow db restore {dag_id} {archived[0]}",
        )


def _targets(
    dag: StoredDag, found: Sequence[FoundRun], graphs: dict[str, Graph], wish: Wish
) -> dict[int, Target]:
    """By the version that a run has: the one that it is to have, and what is selected there.

    Of several versions, those are left out in which nothing is selected. Raises `NotFound` when
    that is so in all of them.
    """
    own = {one.run.version: graphs[one.spec_hash] for one in found}
    latest = graphs[dag.spec_hash]
    missing: list[NotFound] = []
    targets = {}
    for version, graph in own.items():
        target = (dag.version, latest) if wish.version == "latest" else (version, graph)
        try:
            targets[version] = Target(*target, _select(target[1], wish))
        except NotFound as error:
            missing.append(error)
    if missing and not targets:
        if wish.version == "latest":
            _point_to_own_version(dag, own, wish, missing[0])
        raise missing[0]
    return targets


def _select(graph: Graph, wish: Wish) -> Selected:
    selected = everything(graph) if wish.tasks is None else select(graph, wish.tasks)
    return widen(graph, selected, upstream=wish.upstream, downstream=wish.downstream)


def _point_to_own_version(
    dag: StoredDag, own: dict[int, Graph], wish: Wish, error: NotFound
) -> None:
    """Say it where a task is missing only in the latest version."""
    for version, graph in own.items():
        try:
            _select(graph, wish)
        except NotFound:
            continue
        raise NotFound(
            f"{error.message} in its latest version, {dag.version}",
            f"version {version}, which the run has, does: --version run clears it there",
        ) from error


def _touched(
    found: Sequence[FoundRun], graphs: dict[str, Graph], targets: dict[int, Target]
) -> set[str]:
    """Tasks whose rows may change: those selected, and those that a new version does not have."""
    touched: set[str] = set()
    for one in found:
        target = targets.get(one.run.version)
        if target is not None:
            touched |= target.selected.instances.keys()
            touched |= graphs[one.spec_hash].tasks.keys() - target.graph.tasks.keys()
    return touched


def _shown(dag: StoredDag, found: Sequence[FoundRun], planned: Sequence[Planned]) -> Clearing:
    shown = [one.shown for one in planned]
    return Clearing(dag.dag_id, dag.paused, dag.max_active_runs, list(found), shown)


def _what(clearing: Clearing) -> object:
    """What somebody agrees to: which instances of which runs and versions, not their states."""
    return [
        (
            run.run_id,
            run.version,
            [(one.task_id, one.map_index) for one in run.tasks],
            [(one.task_id, one.map_index) for one in run.dropped],
            run.added,
        )
        for run in clearing.runs
    ]


def _write(conn: Conn, planned: Sequence[Planned]) -> None:
    reason = f"cleared by {audit.os_user()}"
    runs.reopen(conn, [one.found.run_key for one in planned if one.finished])
    moved = [one for one in planned if one.shown.version != one.shown.version_before]
    runs.repin(conn, {one.found.run_key: one.shown.version for one in moved})
    restarts = {key: worker for one in planned for key, worker in one.restarts.items()}
    cleared = (one.key for run in planned for one in run.instances)
    clearing.restart(conn, restarts, reason)
    clearing.clear(conn, [key for key in cleared if key not in restarts], reason)
    _drop(conn, moved)
    tasks.renew(conn, [waiting for run in moved for waiting in run.waiting])


def _drop(conn: Conn, moved: Sequence[Planned]) -> None:
    """End what the new version of unfinished runs, the same one for all, does not have."""
    dropped = [
        Mark(one.key, TaskState(one.state), TaskState.SKIPPED)
        for run in moved
        for one in run.dropped
    ]
    if dropped:
        reason = f"version {moved[0].shown.version} does not have this task"
        marks.mark(conn, dropped, reason, "hot")


def _wake(conn: Conn, dag: StoredDag, planned: Sequence[Planned]) -> None:
    """Let schedulers start what is queued, see what follows, and hand out what became free."""
    past.wake_followers(conn, [(one.found.run_key, None) for one in planned])
    going_on = [one.found.run_key for one in planned if not one.finished]
    wakeups.wake_runs(conn, [(run_key, None, None) for run_key in going_on])
    gates.wake_freed(conn, (pool for one in planned for pool in one.freed))
    wakeups.wake_named(conn, [("dag", dag.dag_id)])


def _announce(change: Change, planned: Sequence[Planned]) -> None:
    for one in planned:
        shown = one.shown
        states = {_name(task): task.before.value for task in (*shown.tasks, *shown.dropped)}
        after = {_name(task): task.after.value for task in (*shown.tasks, *shown.dropped)}
        change.log(
            f"{one.found.run.dag_id}/{shown.run_id}",
            {"state": shown.before.value, "version": shown.version_before, "tasks": states},
            {"state": shown.after.value, "version": shown.version, "tasks": after},
        )
    change.tell(notify.STOP)
    change.tell(notify.WAKE)


def _name(task: Cleared) -> str:
    return str(TaskReference(task.task_id, tuple(task.map_index)))
