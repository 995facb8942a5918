"""What `flow clear` prints: what it would do, and what it has done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow.enumeration import few
from flow.wording.cells import counted
from flow.wording.clearing import describe, look_at
from flow.wording.run_changes import name
from flow_cli.output import Output
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.clearing import Clearing
    from flow.store.read.dags import StoredDag


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
    paused = [name(clearing, run) for run in clearing.runs if run.paused]
    if paused:
        printer.warning(f"paused, to go on after `flow runs resume`: {few(paused)}")
    for dag in clearing.dags:
        _starts(printer, clearing, dag)
    if not dry_run:
        printer.message(f"see how it is doing: {_grid(clearing)}")


def _nothing(printer: Output, clearing: Clearing) -> None:
    looked_at = counted(len(clearing.looked_at), "run")
    of = clearing.dags[0].dag_id if len(clearing.dags) == 1 else counted(len(clearing.dags), "DAG")
    printer.message(f"nothing to clear in {looked_at} of {of}")
    kept = [task_id for task_id in clearing.vanished if task_id not in clearing.codeless]
    if kept:
        printer.message(
            f"{few(kept)} would fit, but the latest version does not have it; "
            "--version run clears it in the version that the run has"
        )
    if clearing.codeless:
        printer.message(
            f"{few(clearing.codeless)} would fit, but the latest version does not have it, and its "
            "code is gone from the file: it stays as it ended"
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
