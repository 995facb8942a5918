"""What `flow tasks mark|hold|release` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow_cli.bulk import OneRun
from flow_cli.cells import counted
from flow_cli.clear_page import IN_FULL
from flow_cli.output import Output
from flow_cli.records import plain
from flow_cli.run_pages import already, dags, few, name

if TYPE_CHECKING:
    from flow.ops.holding import Holding
    from flow.ops.marks import Marking


class MarkPage:
    """Of `flow tasks mark`."""

    def describe(self, done: Marking) -> list[str]:
        if len(done.runs) > IN_FULL:
            return [
                f"{name(done, run)}: {counted(len(run.marked), 'task')} -> {run.marked[0].state}"
                for run in done.runs
                if run.marked
            ]
        return [
            f"{_name(done, run, task.reference)}: {task.before} -> {task.state}"
            for run in done.runs
            for task in run.marked
        ]

    def question(self, done: Marking) -> str:
        return f"Mark {counted(done.changes, 'task')} of {_runs(done)}?"

    def report(self, printer: Output, done: Marking, *, dry_run: bool) -> None:
        printer.lines(self.describe(done), {"dry_run": dry_run, "runs": plain(done.runs)})
        already(printer, [_name(done, run, task) for run in done.runs for task in run.unchanged])
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


class HoldPage:
    """Of `flow tasks hold` and `release`; `verb` is one of them."""

    def __init__(self, verb: str) -> None:
        self.verb = verb

    def describe(self, done: Holding) -> list[str]:
        becomes = "held" if self.verb == "hold" else "released"
        if len(done.runs) > IN_FULL:
            return [
                f"{name(done, run)}: {counted(len(run.tasks), 'task')} {becomes}"
                for run in done.runs
                if run.tasks
            ]
        return [
            f"{_name(done, run, task.reference)}: {task.state}, {becomes}"
            + (" from its next try on" if task.running and self.verb == "hold" else "")
            for run in done.runs
            for task in run.tasks
        ]

    def question(self, done: Holding) -> str:
        return f"{self.verb.capitalize()} {counted(done.changes, 'task')} of {_runs(done)}?"

    def report(self, printer: Output, done: Holding, *, dry_run: bool) -> None:
        printer.lines(self.describe(done), {"dry_run": dry_run, "runs": plain(done.runs)})
        already(printer, [_name(done, run, task) for run in done.runs for task in run.unchanged])
        ended = [_name(done, run, task) for run in done.runs for task in run.ended]
        if ended:
            printer.message(f"ended, so left alone: {few(ended)}")


def _name(done: Marking | Holding, run: OneRun, task: object) -> str:
    """A task by its own name where all are of one run."""
    return str(task) if len(done.runs) == 1 else f"{name(done, run)}/{task}"


def _runs(done: Marking | Holding) -> str:
    """The run that the tasks are of, or how many runs there are."""
    if len(done.runs) == 1:
        return f"{done.runs[0].dag_id}/{done.runs[0].run_id}"
    return f"{counted(len(done.runs), 'run')} of {dags(done)}"
