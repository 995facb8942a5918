"""What `flow clear` does, in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flow.task_reference import task_reference
from flow.wording.cells import counted
from flow.wording.task_changes import IN_FULL

if TYPE_CHECKING:
    from flow.ops.clear_plan import Cleared, ClearedRun
    from flow.ops.clearing import Clearing


def describe(clearing: Clearing) -> list[str]:
    """Every run, and what becomes of its tasks."""
    in_full = len(clearing.runs) <= IN_FULL
    return [line for run in clearing.runs for line in _run(run, in_full=in_full)]


def question(clearing: Clearing) -> str:
    """What somebody has to agree to."""
    tasks, runs = counted(clearing.tasks, "task"), counted(len(clearing.runs), "run")
    return f"Clear {tasks} of {runs} of {clearing.dag_id}?"


def _run(run: ClearedRun, *, in_full: bool) -> list[str]:
    version = f", version {run.version}"
    if run.version != run.version_before:
        version = f", version {run.version_before} -> {run.version}"
    state = run.before if run.before == run.after else f"{run.before} -> {run.after}"
    lines = [f"{run.run_id}: {state}{version}"]
    if in_full:
        lines += [f"  {_name(task)}: {task.before} -> {task.after}" for task in run.tasks]
    else:
        counts = Counter(str(task.before) for task in run.tasks)
        states = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
        lines.append(f"  {counted(len(run.tasks), 'task')}: {states}")
    lines += [
        f"  {_name(task)}: {task.before} -> {task.after}, not in version {run.version}"
        for task in run.dropped
    ]
    lines += [f"  {task_id}: new in version {run.version}" for task_id in run.added]
    return lines


def _name(task: Cleared) -> str:
    return task_reference(task.task_id, task.map_index)
