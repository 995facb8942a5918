"""`flow tasks hold|release` and `flow runs pause|resume`: nothing more starts for a while."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from flow.ops.deployment import Deployment
from flow.ops.run_ranges import RunName, Which, find_runs
from flow.ops.run_targets import Target, Targeted, lock_active, lock_targets
from flow.ops.task_references import TaskReference
from flow.states import FINISHED, HELD, RunState, TaskState
from flow.store import gates, holding, notify, tasks, wakeups
from flow.store.connect import Conn
from flow.store.run_locks import LockedRun
from flow.store.tasks import NewTask


class HeldTask(NamedTuple):
    """A task instance that is held now, or released. `running`: that concerns only its next try."""

    task_id: str
    map_index: tuple[int, ...]
    state: TaskState
    running: bool

    @property
    def reference(self) -> TaskReference:
        """What names it within its run."""
        return TaskReference(self.task_id, self.map_index)


class HeldRun(NamedTuple):
    """One run. `unchanged` tasks were so already; `ended` ones can only be cleared."""

    dag_id: str
    run_id: str
    tasks: list[HeldTask]
    unchanged: list[str]
    ended: list[str]


class Holding(NamedTuple):
    """What holding or releasing did, or would do."""

    runs: list[HeldRun]

    @property
    def changes(self) -> int:
        """How many task instances change."""
        return sum(len(run.tasks) for run in self.runs)


class PausedRun(NamedTuple):
    """A run that is paused now, or goes on."""

    dag_id: str
    run_id: str
    state: RunState


class Pausing(NamedTuple):
    """What pausing or resuming did, or would do. `unchanged` runs were so already."""

    runs: list[PausedRun]
    unchanged: list[str]

    @property
    def changes(self) -> int:
        """How many runs change."""
        return len(self.runs)


class _Chosen(NamedTuple):
    of: Targeted
    targets: list[Target]


def hold(
    deployment: Deployment,
    dag: str,
    which: Which,
    selection: str,
    only: Collection[RunName] | None = None,
    *,
    dry_run: bool = False,
) -> Holding:
    """Keep task instances of unfinished runs from starting until they are released.

    What is queued waits again; a try that runs goes on, and only the next one is kept. What has
    ended is left alone. `only` narrows the runs. Raises `NotFound`, and `Conflict`
    for one run that has ended.
    """
    return _change_tasks(
        deployment, "tasks.hold", dag, which, selection, only, held=True, dry_run=dry_run
    )


def release(
    deployment: Deployment,
    dag: str,
    which: Which,
    selection: str,
    only: Collection[RunName] | None = None,
    *,
    dry_run: bool = False,
) -> Holding:
    """Let held task instances start. Raises what `hold` raises."""
    return _change_tasks(
        deployment, "tasks.release", dag, which, selection, only, held=False, dry_run=dry_run
    )


def pause(
    deployment: Deployment,
    dag: str,
    which: Which,
    only: Collection[RunName] | None = None,
    *,
    dry_run: bool = False,
) -> Pausing:
    """Let nothing more of runs start until they are resumed; tries that run go on.

    A queued run is not started. Of a range, runs that have ended are left alone. `only` narrows
    the runs. Raises `NotFound`, and `Conflict` for one run that has ended.
    """
    return _change_runs(deployment, "runs.pause", dag, which, only, paused=True, dry_run=dry_run)


def resume(
    deployment: Deployment,
    dag: str,
    which: Which,
    only: Collection[RunName] | None = None,
    *,
    dry_run: bool = False,
) -> Pausing:
    """Let paused runs go on. Raises what `pause` raises."""
    return _change_runs(deployment, "runs.resume", dag, which, only, paused=False, dry_run=dry_run)


def _change_tasks(
    deployment: Deployment,
    verb: str,
    dag: str,
    which: Which,
    selection: str,
    only: Collection[RunName] | None,
    *,
    held: bool,
    dry_run: bool,
) -> Holding:
    conn = deployment.conn
    with deployment.change(verb) as change:
        active = _lock_active(conn, dag, which, only)
        targeted = lock_targets(conn, active, selection)
        chosen = [
            _Chosen(
                one,
                [
                    target
                    for target in one.targets
                    if target.held is not held and target.before not in FINISHED
                ],
            )
            for one in targeted
        ]
        if not dry_run:
            _write(conn, [one for one in chosen if one.targets], held=held)
            for one in chosen:
                for target in one.targets:
                    name = f"{one.of.run.dag_id}/{one.of.run.run_id}/{target.reference}"
                    change.log(name, {"held": not held}, {"held": held})
            change.tell(notify.WAKE)
    return Holding([_shown(one, held=held) for one in chosen])


def _write(conn: Conn, chosen: Sequence[_Chosen], *, held: bool) -> None:
    tasks.insert(
        conn,
        [
            NewTask(
                one.of.run.run_key,
                one.of.run.dag_id,
                one.of.graph.tasks[target.key[1]],
                TaskState.NONE,
                None,
            )
            for one in chosen
            for target in one.targets
            if not target.has_row
        ],
    )
    keys = [target.key for one in chosen for target in one.targets]
    if held:
        holding.hold(conn, keys)
    else:
        holding.release(conn, keys)
    _wake(conn, [(one.of.run, one.targets) for one in chosen])


def _wake(conn: Conn, changed: Sequence[tuple[LockedRun, Sequence[Target]]]) -> None:
    """Let others use what is free now, and what was kept look for its own."""
    wakeups.wake_runs(conn, [(run.run_key, None, None) for run, _ in changed])
    wakeups.wake_named(conn, sorted({("dag", run.dag_id) for run, _ in changed}))
    gates.wake_freed(
        conn,
        {
            target.pool
            for _, targets in changed
            for target in targets
            if target.before in (TaskState.QUEUED, TaskState.SCHEDULED)
        },
    )


def _shown(one: _Chosen, *, held: bool) -> HeldRun:
    ended = [target for target in one.of.targets if target.before in FINISHED]
    same = [t for t in one.of.targets if t.before not in FINISHED and t.held is held]
    return HeldRun(
        one.of.run.dag_id,
        one.of.run.run_id,
        [
            HeldTask(*target.reference, target.before, target.before in HELD)
            for target in one.targets
        ],
        [str(target.reference) for target in same],
        [str(target.reference) for target in ended],
    )


def _change_runs(
    deployment: Deployment,
    verb: str,
    dag: str,
    which: Which,
    only: Collection[RunName] | None,
    *,
    paused: bool,
    dry_run: bool,
) -> Pausing:
    conn = deployment.conn
    with deployment.change(verb) as change:
        active = _lock_active(conn, dag, which, only)
        chosen = [one for one in active if one.paused is not paused]
        if chosen and not dry_run:
            targeted = lock_targets(conn, chosen, None)
            write: Callable[[Conn, list[int]], None] = holding.pause if paused else holding.resume
            write(conn, [one.run_key for one in chosen])
            _wake(conn, [(one.run, one.targets) for one in targeted])
            for one in chosen:
                change.log(f"{one.dag_id}/{one.run_id}", {"paused": not paused}, {"paused": paused})
            change.tell(notify.WAKE)
    return Pausing(
        [PausedRun(one.dag_id, one.run_id, RunState(one.state)) for one in chosen],
        [one.run_id for one in active if one.paused is paused],
    )


def _lock_active(
    conn: Conn, dag: str, which: Which, only: Collection[RunName] | None
) -> list[LockedRun]:
    """The unfinished ones of the runs, while nobody admits anything."""
    found = find_runs(conn, dag, which, only)
    gates.freeze(conn)
    return lock_active(conn, found, which, "its tasks can only run again: flow clear {run}")
