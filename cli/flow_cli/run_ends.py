"""What `flow runs cancel` and `flow runs delete` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow_cli.cells import counted
from flow_cli.output import Output
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.cancelling import Cancelling
    from flow.ops.deleting import Deleting


def describe_cancelled(done: Cancelling) -> list[str]:
    """Every run, and what becomes of its tasks."""
    lines = []
    for run in done.runs:
        lines.append(f"{run.run_id}: {run.before} -> {run.after}")
        for what, names in (("stopped", run.stopped), ("skipped", run.skipped)):
            if names:
                lines.append(f"  {what}: {_few(names)}")
    return lines


def report_cancelled(printer: Output, done: Cancelling, *, dry_run: bool) -> None:
    """Print what was cancelled, or would be."""
    document = {"dag_id": done.dag_id, "dry_run": dry_run, "runs": plain(done.runs)}
    printer.lines(describe_cancelled(done), document)
    if not done.runs:
        looked_at = counted(done.looked_at, "run")
        printer.message(f"nothing to cancel: {looked_at} of {done.dag_id} ended before")


def describe_deleted(done: Deleting) -> list[str]:
    """Every run that is gone."""
    return [f"{run.run_id}: {run.state}, {counted(run.tasks, 'task')}" for run in done.runs]


def report_deleted(printer: Output, done: Deleting, *, dry_run: bool) -> None:
    """Print what was deleted, or would be."""
    document = {
        "dag_id": done.dag_id,
        "dry_run": dry_run,
        "runs": plain(done.runs),
        "comes_again": done.comes_again,
    }
    printer.lines(describe_deleted(done), document)
    if done.comes_again:
        printer.message(f"{done.dag_id} runs once, so its schedule makes this run again")


def _few(names: list[str], shown: int = 10) -> str:
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest > 0 else "")
