"""What `flow tasks mark|hold|release` do to tasks, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from flow.enumeration import few
from flow.wording.cells import counted
from flow.wording.run_changes import OneRun, already, dags, name

if TYPE_CHECKING:
    from flow.ops.holding import Holding
    from flow.ops.marks import MarkedRun, Marking

IN_FULL: Final = 3
"""Runs whose tasks are named one by one; of more runs only how many there are."""


class MarkWords:
    """Of `flow tasks mark`."""

    def describe(self, done: Marking) -> list[str]:
        if len(done.runs) > IN_FULL:
            return [
                f"{name(done, run)}: {counted(len(run.marked), 'task')} -> {run.marked[0].state}"
                for run in done.runs
                if run.marked
            ]
        return [
            f"{named(done, run, task.reference)}: {task.before} -> {task.state}"
            for run in done.runs
            for task in run.marked
        ]

    def question(self, done: Marking) -> str:
        return f"Mark {counted(done.changes, 'task')} of {_runs(done)}?"

    def notes(self, done: Marking, *, dry_run: bool) -> list[str]:
        followed = (line for run in done.runs for line in _follows(done, run, dry_run=dry_run))
        return [*_unchanged(done), *followed]


class HoldWords:
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
            f"{named(done, run, task.reference)}: {task.state}, {becomes}"
            + (" from its next try on" if task.running and self.verb == "hold" else "")
            for run in done.runs
            for task in run.tasks
        ]

    def question(self, done: Holding) -> str:
        return f"{self.verb.capitalize()} {counted(done.changes, 'task')} of {_runs(done)}?"

    def notes(self, done: Holding, *, dry_run: bool) -> list[str]:
        ended = [named(done, run, task) for run in done.runs for task in run.ended]
        again = "clear it (flow clear) and it can run, and be held, again"
        left_alone = [f"left alone, because it has ended: {few(ended)}; {again}"] if ended else []
        return [*_unchanged(done), *left_alone]


def named(done: Marking | Holding, run: OneRun, task: object) -> str:
    """A task by its own name where all are of one run."""
    return str(task) if len(done.runs) == 1 else f"{name(done, run)}/{task}"


def _unchanged(done: Marking | Holding) -> list[str]:
    return already([named(done, run, task) for run in done.runs for task in run.unchanged])


def _follows(done: Marking, run: MarkedRun, *, dry_run: bool) -> Iterator[str]:
    """What becomes of the run itself, and which tasks stay without having run."""
    if run.after is not None and run.after != run.before:
        would = "would be" if dry_run else "is now"
        of = "the run" if len(done.runs) == 1 else name(done, run)
        yield f"{of} {would} {run.after}; it was {run.before}"
    if run.stays:
        yield (
            f"{few(run.stays)} did not run because of this; to run them: flow clear "
            f"{run.dag_id} {run.run_id} -t {','.join(run.stays)}"
        )


def _runs(done: Marking | Holding) -> str:
    """The run that the tasks are of, or how many runs there are."""
    if len(done.runs) == 1:
        return f"{done.runs[0].dag_id}/{done.runs[0].run_id}"
    return f"{counted(len(done.runs), 'run')} of {dags(done)}"
