"""What `flow backfill` and `flow backfills` print: the plan of a backfill, and how it is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flow.wording.backfills import NOTHING, describe, describe_cancelled, summary
from flow_cli.output import Output
from flow_cli.records import plain, row_of

if TYPE_CHECKING:
    from flow.ops.backfill_plan import BackfillPlan
    from flow.ops.backfills import CancelledBackfill
    from flow.store.read.backfills import Backfill


def row_of_backfill(backfill: Backfill) -> dict[str, Any]:
    """The fields of a backfill, with the names of the contract."""
    names = {"start": "from", "end": "to"}
    return {names.get(name, name): value for name, value in row_of(backfill).items()}


def report_plan(printer: Output, plan: BackfillPlan) -> None:
    """Print what would be done."""
    starts = [one.data_interval_start for one in plan.intervals]
    document = {
        "id": None,
        "dag_id": plan.dag_id,
        "from": min(starts),
        "to": max(starts),
        "total": plan.runs,
        "max_active_runs": plan.max_active_runs,
        "order": plan.order,
        "reprocess": plan.reprocess,
        "skipped": plan.count("skip"),
        "tasks": plan.tasks,
        "version": plan.version,
        "estimate_s": plan.estimate_s,
        "notes": plan.notes,
        "intervals": plain(plan.intervals),
    }
    printer.lines(describe(plan), document)
    tell_notes(printer, plan)
    if not plan.runs:
        printer.message(f"{NOTHING}; see --reprocess (now {plan.reprocess})")


def tell_notes(printer: Output, plan: BackfillPlan) -> None:
    """What is not as it was asked for."""
    for note in plan.notes:
        printer.message(note)


def report_made(printer: Output, backfill: Backfill) -> None:
    """Print what was made, or has ended."""
    printer.lines([summary(backfill)], row_of_backfill(backfill))


def report_cancelled(printer: Output, done: CancelledBackfill, *, dry_run: bool) -> None:
    """Print what was cancelled, or would be."""
    document = {**row_of_backfill(done.backfill), "dry_run": dry_run, "runs": plain(done.runs)}
    printer.lines(describe_cancelled(done), document)
    if not dry_run:
        printer.message(summary(done.backfill))
