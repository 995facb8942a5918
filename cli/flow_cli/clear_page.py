"""What `flow clear` prints: what it would do, and what it has done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from flow.task_reference import task_reference
from flow_cli.cells import counted
from flow_cli.output import Output
from flow_cli.records import plain
from flow_cli.run_pages import dags, few, name

if TYPE_CHECKING:
    from flow.ops.clear_plan import Cleared, ClearedRun
    from flow.ops.clearing import Clearing
    from flow.store.read.dags import StoredDag
    from flow.store.read.runs import Run

IN_FULL: Final = 3
"""Runs whose tasks are named one by one; of more runs only how many there are."""


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


def report(printer: Output, clearing: Clearing, *, dry_run: bool) -> None:
    """Print what was done, or would be."""
    printer.lines(describe(clearing), {"dry_run": dry_run, "runs": plain(clearing.runs)})
    if not clearing.runs:
        _nothing(printer, clearing)
        return
    stays = list(dict.fromkeys(task for run in clearing.runs for task in run.stays))
    if stays:
        printer.message(
            f"{few(stays)} did not run because of an earlier end and stay so; "
            "--downstream clears them too"
        )
    for run in clearing.runs:
        if run.paused:
            printer.warning(
                f"run {run.run_id} is paused: it goes on after "
                f"`flow runs resume {run.dag_id} {run.run_id}`"
            )
    for dag in clearing.dags:
        _starts(printer, clearing, dag)
    if not dry_run:
        printer.message(f"see how it is doing: {_grid(clearing)}")


def _nothing(printer: Output, clearing: Clearing) -> None:
    looked_at = counted(len(clearing.looked_at), "run")
    of = clearing.dags[0].dag_id if len(clearing.dags) == 1 else f"{len(clearing.dags)} DAGs"
    printer.message(f"nothing to clear in {looked_at} of {of}")
    if clearing.vanished:
        printer.message(
            f"{few(clearing.vanished)} would fit, but the latest version does not have it; "
            "--version run clears it in the version that the run has"
        )


def _starts(printer: Output, clearing: Clearing, dag: StoredDag) -> None:
    """Say when the queued runs of a DAG start."""
    queued = sum(run.after == "queued" for run in clearing.runs if run.dag_id == dag.dag_id)
    if queued and dag.paused:
        printer.warning(
            f"DAG {dag.dag_id} is paused: its queued runs start after "
            f"`flow dags unpause {dag.dag_id}`"
        )
    elif queued > dag.max_active_runs:
        of = "they" if len(clearing.dags) == 1 else f"those of {dag.dag_id}"
        printer.message(
            f"{of} start oldest first, {dag.max_active_runs} at a time (max_active_runs)"
        )


def _grid(clearing: Clearing) -> str:
    ids = {run.dag_id for run in clearing.runs}
    return f"flow grid {next(iter(ids))}" if len(ids) == 1 else look_at(clearing)


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
