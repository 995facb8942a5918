"""What `flow tasks mark|hold|release` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow.wording.task_changes import HoldWords, MarkWords
from flow_cli.output import Output
from flow_cli.records import plain
from flow_cli.run_pages import tell

if TYPE_CHECKING:
    from flow.ops.holding import Holding
    from flow.ops.marks import Marking


class MarkPage(MarkWords):
    """Of `flow tasks mark`."""

    def report(self, printer: Output, done: Marking, *, dry_run: bool) -> None:
        printer.lines(self.describe(done), {"dry_run": dry_run, "runs": plain(done.runs)})
        tell(printer, self.notes(done, dry_run=dry_run))


class HoldPage(HoldWords):
    """Of `flow tasks hold` and `release`; `verb` is one of them."""

    def report(self, printer: Output, done: Holding, *, dry_run: bool) -> None:
        printer.lines(self.describe(done), {"dry_run": dry_run, "runs": plain(done.runs)})
        tell(printer, self.notes(done, dry_run=dry_run))
