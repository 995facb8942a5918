"""What `flow tasks mark|hold|release` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow.enumeration import few
from flow.wording.run_changes import name
from flow.wording.task_changes import HoldWords, MarkWords, named
from flow_cli.output import Output
from flow_cli.records import plain
from flow_cli.run_pages import already

if TYPE_CHECKING:
    from flow.ops.holding import Holding
    from flow.ops.marks import Marking


class MarkPage(MarkWords):
    """Of `flow tasks mark`."""

    def report(self, printer: Output, done: Marking, *, dry_run: bool) -> None:
        printer.lines(self.describe(done), {"dry_run": dry_run, "runs": plain(done.runs)})
        already(printer, [named(done, run, task) for run in done.runs for task in run.unchanged])
        for run in done.runs:
            if run.after is not None and run.after != run.before:
                would = "would be" if dry_run else "is now"
                of = "the run" if len(done.runs) == 1 else name(done, run)
                printer.message(f"{of} {would} {run.after}; it was {run.before}")
            if run.stays:
                printer.message(
                    f"{few(run.stays)} did not run because of this; to run them: flow clear "
                    f"{run.dag_id} {run.run_id} -t {','.join(run.stays)}"
                )


class HoldPage(HoldWords):
    """Of `flow tasks hold` and `release`; `verb` is one of them."""

    def report(self, printer: Output, done: Holding, *, dry_run: bool) -> None:
        printer.lines(self.describe(done), {"dry_run": dry_run, "runs": plain(done.runs)})
        already(printer, [named(done, run, task) for run in done.runs for task in run.unchanged])
        ended = [named(done, run, task) for run in done.runs for task in run.ended]
        if ended:
            again = "clear it (flow clear) and it can run, and be held, again"
            printer.message(f"left alone, because it has ended: {few(ended)}; {again}")
