"""Giving runs and tasks their verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from flow_tui.command import command
from flow_tui.deeds.deed import Deed, of_many
from flow_tui.deeds.selection import Runs, for_runs
from flow_tui.targets import Target

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment
    from flow.ops.marks import Marking
    from flow.ops.run_marks import RunMarking
    from flow.states import RunState, TaskState


def mark(state: str) -> Callable[[Sequence[Target]], list[Deed]]:
    """`flow runs mark` or `flow tasks mark`, whichever the targets are."""
    return for_runs(partial(_mark, state))


def _mark(state: str, runs: Runs) -> Deed:
    return _mark_tasks(runs, state) if runs.tasks else _mark_runs(runs, state)


def _mark_runs(runs: Runs, state: str) -> Deed:
    from flow.wording.run_changes import MarkWords

    def act(deployment: Deployment, *, dry_run: bool) -> RunMarking:
        from flow.ops import run_marks
        from flow.states import RunState

        verdict: RunState = RunState(state)
        return run_marks.mark(deployment, runs.dag_id, runs.which, verdict, dry_run=dry_run)

    return of_many(command("runs", "mark", runs.dag_id, *runs.words, state), act, MarkWords())


def _mark_tasks(runs: Runs, state: str) -> Deed:
    from flow.wording.task_changes import MarkWords

    def act(deployment: Deployment, *, dry_run: bool) -> Marking:
        from flow.ops import marks
        from flow.states import TaskState

        verdict: TaskState = TaskState(state)
        selection = runs.selection or "*"
        return marks.mark(deployment, runs.dag_id, runs.which, selection, verdict, dry_run=dry_run)

    return of_many(runs.tasks_command("mark", state), act, MarkWords())
