"""What `flow runs cancel|delete|mark|pause|resume` print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flow.wording.run_changes import CancelWords, DeleteWords, MarkWords, PauseWords
from flow_cli.deleting import becomes
from flow_cli.output import Output
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.cancelling import Cancelling
    from flow.ops.deleting import Deleting
    from flow.ops.holding import Pausing
    from flow.ops.run_marks import RunMarking


class CancelPage(CancelWords):
    """Of `flow runs cancel`."""

    def report(self, printer: Output, done: Cancelling, *, dry_run: bool) -> None:
        printer.lines(self.describe(done), {"dry_run": dry_run, "runs": plain(done.runs)})
        tell(printer, self.notes(done, dry_run=dry_run))


class DeletePage(DeleteWords):
    """Of `flow runs delete`."""

    def report(self, printer: Output, done: Deleting, *, dry_run: bool) -> None:
        document = {
            "dry_run": dry_run,
            "runs": plain(done.runs),
            "come_again": done.come_again,
        }
        fate = becomes(dry_run=dry_run)
        printer.lines([f"{line}; {fate}" for line in self.describe(done)], document)
        tell(printer, self.notes(done, dry_run=dry_run))


class MarkPage(MarkWords):
    """Of `flow runs mark`."""

    def report(self, printer: Output, done: RunMarking, *, dry_run: bool) -> None:
        document = {"dry_run": dry_run, "runs": plain(done.runs), "unchanged": done.unchanged}
        printer.lines(self.describe(done), document)
        tell(printer, self.notes(done, dry_run=dry_run))


class PausePage(PauseWords):
    """Of `flow runs pause` and `resume`; `verb` is one of them."""

    def report(self, printer: Output, done: Pausing, *, dry_run: bool) -> None:
        document = {"dry_run": dry_run, "runs": plain(done.runs), "unchanged": done.unchanged}
        printer.lines(self.describe(done), document)
        tell(printer, self.notes(done, dry_run=dry_run))


def tell(printer: Output, notes: Sequence[str]) -> None:
    """Say what else is to be known."""
    for note in notes:
        printer.message(note)
