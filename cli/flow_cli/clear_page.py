"""What `flow clear` prints: what it would do, and what it has done."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from flow.task_reference import task_reference
from flow_cli.cells import counted
from flow_cli.output import Output
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.clear_plan import Cleared, ClearedRun
    from flow.ops.clearing import Clearing

IN_FULL: Final = 3
"""Runs whose tasks are named one by one; of more runs only how many there are."""


def describe(clearing: Clearing) -> list[str]:
    """Every run, and what becomes of its tasks."""
    in_full = len(clearing.runs) <= IN_FULL
    return [line for run in clearing.runs for line in _run(run, in_full=in_full)]


def question(clearing: Clearing) -> str:
    """What somebody has to agree to."""
    tasks, runs = counted(clearing.tasks, "task"), counted(len(clearing.runs), "run")
    return f"Clear {tasks} of {runs} of {clearing.dag_id}?"


def report(printer: Output, clearing: Clearing, *, dry_run: bool) -> None:
    """Print what was done, or would be."""
    document = {
        "dag_id": clearing.dag_id,
        "dry_run": dry_run,
        "runs": [plain(run) for run in clearing.runs],
    }
    printer.lines(describe(clearing), document)
    if not clearing.runs:
        looked_at = counted(len(clearing.looked_at), "run")
        printer.message(f"nothing to clear in {looked_at} of {clearing.dag_id}")
        return
    stays = list(dict.fromkeys(task for run in clearing.runs for task in run.stays))
    if stays:
        printer.message(
            f"{', '.join(stays)} did not run because of an earlier end and stay so; "
            "--downstream clears them too"
        )
    queued = sum(run.after == "queued" for run in clearing.runs)
    if queued and clearing.paused:
        printer.warning(
            f"DAG {clearing.dag_id} is paused: its queued runs start after "
            f"`flow dags unpause {clearing.dag_id}`"
        )
    elif queued > clearing.max_active_runs:
        printer.message(
            f"they start oldest first, {clearing.max_active_runs} at a time (max_active_runs)"
        )
    if not dry_run:
        printer.message(f"see how it is doing: flow grid {clearing.dag_id}")


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
