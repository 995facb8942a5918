"""`flow runs mark`: an operator says how runs ended."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from flow.decide.reason import Code
from flow.ops import run_endings
from flow.ops.deployment import Deployment
from flow.ops.marks import MarkedTask, reason
from flow.ops.run_endings import Ending
from flow.ops.run_ranges import RunName, Which, find_runs
from flow.ops.run_targets import Target, Targeted, lock_runs, lock_targets
from flow.states import FINISHED, HELD, RunState, TaskState


class MarkedRun(NamedTuple):
    """What becomes of one run, and of those of its tasks that change."""

    dag_id: str
    run_id: str
    before: RunState
    after: RunState
    tasks: list[MarkedTask]


class RunMarking(NamedTuple):
    """What marking runs did, or would do. `unchanged` runs had this verdict already."""

    runs: list[MarkedRun]
    unchanged: list[str]

    @property
    def changes(self) -> int:
        """How many runs get another verdict."""
        return len(self.runs)


def mark(
    deployment: Deployment,
    dag: str,
    which: Which,
    state: RunState,
    only: Collection[RunName] | None = None,
    *,
    dry_run: bool = False,
) -> RunMarking:
    """Give runs a verdict, `success` or `failed`, without any callback.

    As success: tasks that have not ended, failed, or did not run because of that are marked success
    too; skipped ones stay. As failed: what runs is stopped and marked failed, what has not begun is
    skipped; what has ended stays. `only` narrows the runs. Raises `NotFound`, and
    `Conflict` for an archived run.
    """
    conn = deployment.conn
    with deployment.change("runs.mark") as change:
        found = find_runs(conn, dag, which, only)
        targeted = lock_targets(conn, lock_runs(conn, found), None)
        endings = [_ending(one, state) for one in targeted if one.state is not state]
        marked = [_shown(one) for one in endings]
        if endings and not dry_run:
            run_endings.write(conn, endings, reason(), Code.MARKED)
            run_endings.wake(conn, change, endings)
            for shown in marked:
                changes = {str(one.reference): one for one in shown.tasks}
                change.log(
                    f"{shown.dag_id}/{shown.run_id}",
                    {
                        "state": shown.before.value,
                        "tasks": {name: one.before.value for name, one in changes.items()},
                    },
                    {
                        "state": shown.after.value,
                        "tasks": {name: one.state.value for name, one in changes.items()},
                    },
                )
    unchanged = [one.run.run_id for one in targeted if one.state is state]
    return RunMarking(marked, unchanged)


def _ending(of: Targeted, state: RunState) -> Ending:
    becomes = _succeeded if state is RunState.SUCCESS else _failed
    changes = [(target, after) for target in of.targets if (after := becomes(target)) is not None]
    return Ending(of, state, changes)


def _succeeded(target: Target) -> TaskState | None:
    kept = (TaskState.SUCCESS, TaskState.SKIPPED, TaskState.REMOVED)
    return None if target.before in kept else TaskState.SUCCESS


def _failed(target: Target) -> TaskState | None:
    if target.before in FINISHED:
        return None
    return TaskState.FAILED if target.before in HELD else TaskState.SKIPPED


def _shown(ending: Ending) -> MarkedRun:
    return MarkedRun(
        ending.of.run.dag_id,
        ending.of.run.run_id,
        ending.of.state,
        ending.state,
        [MarkedTask(*target.reference, target.before, after) for target, after in ending.changes],
    )
