"""What `flow clear` prints: what it would do, and what it has done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow.wording.cells import counted
from flow.wording.clearing import describe
from flow_cli.output import Output
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.clearing import Clearing


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
