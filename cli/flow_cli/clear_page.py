"""What `flow clear` prints: what it would do, and what it has done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow.wording.clearing import cautions, describe, look_at, notes, nothing, question, warnings
from flow_cli.confirm import confirm
from flow_cli.output import Output
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.clearing import Clearing


def ask(printer: Output, planned: Clearing) -> None:
    """Print what would be done, and let somebody agree to it."""
    printer.message("\n".join(describe(planned)))
    _caution(printer, planned)
    confirm(question(planned), yes=False)


def report(printer: Output, clearing: Clearing, *, dry_run: bool, asked: bool = False) -> None:
    """Print what was done, or would be. `asked`: somebody was told what `ask` tells."""
    printer.lines(describe(clearing), {"dry_run": dry_run, "runs": plain(clearing.runs)})
    for note in notes(clearing) if clearing.runs else nothing(clearing):
        printer.message(note)
    if not asked:
        _caution(printer, clearing)
    for warning in warnings(clearing):
        printer.warning(warning)
    if clearing.runs and not dry_run:
        printer.message(f"see how it is doing: {_grid(clearing)}")


def _caution(printer: Output, clearing: Clearing) -> None:
    for caution in cautions(clearing):
        printer.warning(caution)


def _grid(clearing: Clearing) -> str:
    ids = {run.dag_id for run in clearing.runs}
    return f"flow grid {next(iter(ids))}" if len(ids) == 1 else look_at(clearing)
