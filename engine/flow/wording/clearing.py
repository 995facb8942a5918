"""What `flow clear` does, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flow.task_reference import task_reference
from flow.wording.cells import counted
from flow.wording.run_changes import dags, name
from flow.wording.task_changes import IN_FULL

if TYPE_CHECKING:
    from flow.ops.clear_plan import Cleared, ClearedRun
    from flow.ops.clearing import Clearing
    from flow.store.read.runs import Run


def describe(clearing: Clearing) -> list[str]:
    """Every run, and what becomes of its tasks; of many runs what they have in common once."""
    if len(clearing.runs) <= IN_FULL:
        return [
            line
            for run in clearing.runs
            for line in (_heading(clearing, run), *map(_task, run.tasks), *_by_version(run))
        ]
    lines = [
        line for run in clearing.runs for line in (_heading(clearing, run), _counted(run.tasks))
    ]
    for same in _alike(clearing):
        runs = counted(len(same), "run")
        heading = (
            f"{same[0].dag_id}, version {same[0].version_before} -> {same[0].version}, {runs}:"
        )
        lines += [heading, *_by_version(same[0])]
    return lines


def question(clearing: Clearing) -> str:
    """What somebody has to agree to."""
    tasks, runs = counted(clearing.changes, "task"), counted(len(clearing.runs), "run")
    return f"Clear {tasks} of {runs} of {dags(clearing)}?"


def look_at(clearing: Clearing) -> str:
    """The command that shows how the runs are doing."""
    ids = {run.dag_id for run in clearing.runs}
    return f"flow runs list {next(iter(ids))}" if len(ids) == 1 else "flow runs list"


def ended(run: Run) -> str:
    """A line about a run that has ended; of a failure with the command that says why."""
    line = f"{run.dag_id} {run.run_id}: {run.state}"
    return f"{line}: flow why {run.dag_id} {run.run_id}" if run.state == "failed" else line


def _heading(clearing: Clearing, run: ClearedRun) -> str:
    version = f", version {run.version}"
    if run.version != run.version_before:
        version = f", version {run.version_before} -> {run.version}"
    state = run.before if run.before == run.after else f"{run.before} -> {run.after}"
    return f"{name(clearing, run)}: {state}{version}"


def _counted(tasks: Sequence[Cleared]) -> str:
    counts = Counter(str(task.before) for task in tasks)
    states = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
    return f"  {counted(len(tasks), 'task')}: {states}"


def _alike(clearing: Clearing) -> list[list[ClearedRun]]:
    """Runs with the same to say about their new version, without those that have nothing."""
    groups: dict[tuple[object, ...], list[ClearedRun]] = {}
    for run in clearing.runs:
        if lines := _by_version(run):
            key = run.dag_id, run.version_before, run.version, *lines
            groups.setdefault(key, []).append(run)
    return list(groups.values())


def _by_version(run: ClearedRun) -> list[str]:
    """What the new version of a run makes of its tasks."""
    lines = [f"{_task(task)}, not in version {run.version}" for task in run.dropped]
    lines += [f"  {task_id}: stays, not in version {run.version}" for task_id in run.vanished]
    lines += [f"  {task_id}: new in version {run.version}" for task_id in run.added]
    lines += [
        f"  {task.task_id}: changed in version {run.version}: {', '.join(task.fields)}"
        for task in run.changed
    ]
    return lines


def _task(task: Cleared) -> str:
    held = ", held" if task.held else ""
    return f"  {task_reference(task.task_id, task.map_index)}: {task.before} -> {task.after}{held}"
