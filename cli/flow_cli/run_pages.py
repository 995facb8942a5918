"""What `flow runs cancel|delete|mark|pause|resume` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow_cli.bulk import OneRun, Outcome
from flow_cli.cells import counted
from flow_cli.output import Output
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.cancelling import Cancelling
    from flow.ops.deleting import Deleting
    from flow.ops.holding import Pausing
    from flow.ops.run_marks import RunMarking


class CancelPage:
    """Of `flow runs cancel`."""

    def describe(self, done: Cancelling) -> list[str]:
        lines = []
        for run in done.runs:
            lines.append(f"{name(done, run)}: {run.before} -> {run.after}")
            for what, tasks in (("stopped", run.stopped), ("skipped", run.skipped)):
                if tasks:
                    lines.append(f"  {what}: {few(tasks)}")
        return lines

    def question(self, done: Cancelling) -> str:
        return f"Cancel {counted(len(done.runs), 'run')} of {dags(done)}?"

    def report(self, printer: Output, done: Cancelling, *, dry_run: bool) -> None:
        printer.lines(self.describe(done), {"dry_run": dry_run, "runs": plain(done.runs)})
        if not done.runs:
            looked_at = counted(done.looked_at, "run")
            printer.message(f"nothing to cancel: {looked_at} ended before")


class DeletePage:
    """Of `flow runs delete`."""

    def describe(self, done: Deleting) -> list[str]:
        return [
            f"{name(done, run)}: {run.state}, {counted(run.tasks, 'task')}" for run in done.runs
        ]

    def question(self, done: Deleting) -> str:
        return f"Delete {counted(len(done.runs), 'run')} of {dags(done)}?"

    def report(self, printer: Output, done: Deleting, *, dry_run: bool) -> None:
        document = {
            "dry_run": dry_run,
            "runs": plain(done.runs),
            "come_again": done.come_again,
        }
        printer.lines(self.describe(done), document)
        for dag_id in done.come_again:
            printer.message(f"{dag_id} runs once, so its schedule makes this run again")


class MarkPage:
    """Of `flow runs mark`."""

    def describe(self, done: RunMarking) -> list[str]:
        lines = []
        for run in done.runs:
            lines.append(f"{name(done, run)}: {run.before} -> {run.after}")
            for state in dict.fromkeys(task.state for task in run.tasks):
                tasks = [str(task.reference) for task in run.tasks if task.state == state]
                lines.append(f"  {state}: {few(tasks)}")
        return lines

    def question(self, done: RunMarking) -> str:
        return f"Mark {counted(len(done.runs), 'run')} of {dags(done)}?"

    def report(self, printer: Output, done: RunMarking, *, dry_run: bool) -> None:
        document = {"dry_run": dry_run, "runs": plain(done.runs), "unchanged": done.unchanged}
        printer.lines(self.describe(done), document)
        already(printer, done.unchanged)


class PausePage:
    """Of `flow runs pause` and `resume`; `verb` is one of them."""

    def __init__(self, verb: str) -> None:
        self.verb = verb

    def describe(self, done: Pausing) -> list[str]:
        becomes = "paused" if self.verb == "pause" else "goes on"
        return [f"{name(done, run)}: {run.state}, {becomes}" for run in done.runs]

    def question(self, done: Pausing) -> str:
        return f"{self.verb.capitalize()} {counted(len(done.runs), 'run')} of {dags(done)}?"

    def report(self, printer: Output, done: Pausing, *, dry_run: bool) -> None:
        document = {"dry_run": dry_run, "runs": plain(done.runs), "unchanged": done.unchanged}
        printer.lines(self.describe(done), document)
        already(printer, done.unchanged)


def name(outcome: Outcome, run: OneRun) -> str:
    """A run by its id alone where all are of one DAG."""
    alone = all(one.dag_id == run.dag_id for one in outcome.runs)
    return run.run_id if alone else f"{run.dag_id}/{run.run_id}"


def dags(outcome: Outcome) -> str:
    """The DAG that the runs are of, or how many there are."""
    ids = {one.dag_id for one in outcome.runs}
    return next(iter(ids)) if len(ids) == 1 else counted(len(ids), "DAG")


def already(printer: Output, names: list[str]) -> None:
    """Say what did not change because it was so before."""
    if names:
        printer.message(f"already so: {few(names)}")


def few(names: list[str], shown: int = 10) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest > 0 else "")
