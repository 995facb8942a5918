"""What `flow runs cancel|delete|mark|pause|resume` do to runs, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from flow.enumeration import few
from flow.wording.cells import counted

if TYPE_CHECKING:
    from flow.ops.cancelling import Cancelling
    from flow.ops.deleting import Deleting
    from flow.ops.holding import Pausing
    from flow.ops.run_marks import RunMarking


class OneRun(Protocol):
    """What becomes of one run."""

    @property
    def dag_id(self) -> str: ...

    @property
    def run_id(self) -> str: ...


class Outcome(Protocol):
    """What a verb did, or would do."""

    @property
    def runs(self) -> Sequence[OneRun]: ...

    @property
    def changes(self) -> int: ...


T = TypeVar("T", contravariant=True)


class Words(Protocol[T]):
    """What a verb says of what it did, or would do."""

    def describe(self, done: T) -> list[str]:
        """A line or more for every run."""

    def question(self, done: T) -> str:
        """What somebody has to agree to."""

    def notes(self, done: T, *, dry_run: bool) -> list[str]:
        """What else is to be known: what stays as it is, and what follows."""


class CancelWords:
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

    def notes(self, done: Cancelling, *, dry_run: bool) -> list[str]:
        looked_at = counted(done.looked_at, "run")
        return [] if done.runs else [f"nothing to cancel: {looked_at} ended before"]


class DeleteWords:
    """Of `flow runs delete`."""

    def describe(self, done: Deleting) -> list[str]:
        return [
            f"{name(done, run)}: {run.state}, {counted(run.tasks, 'task')}" for run in done.runs
        ]

    def question(self, done: Deleting) -> str:
        return f"Delete {counted(len(done.runs), 'run')} of {dags(done)}?"

    def notes(self, done: Deleting, *, dry_run: bool) -> list[str]:
        return [
            f"{dag_id} runs once, so its schedule makes this run again"
            for dag_id in done.come_again
        ]


class MarkWords:
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

    def notes(self, done: RunMarking, *, dry_run: bool) -> list[str]:
        return already(done.unchanged)


class PauseWords:
    """Of `flow runs pause` and `resume`; `verb` is one of them."""

    def __init__(self, verb: str) -> None:
        self.verb = verb

    def describe(self, done: Pausing) -> list[str]:
        becomes = "paused" if self.verb == "pause" else "goes on"
        return [f"{name(done, run)}: {run.state}, {becomes}" for run in done.runs]

    def question(self, done: Pausing) -> str:
        return f"{self.verb.capitalize()} {counted(len(done.runs), 'run')} of {dags(done)}?"

    def notes(self, done: Pausing, *, dry_run: bool) -> list[str]:
        return already(done.unchanged)


def already(names: Sequence[str]) -> list[str]:
    """What did not change because it was so before."""
    return [f"already so: {few(names)}"] if names else []


def name(outcome: Outcome, run: OneRun) -> str:
    """A run by its id alone where all are of one DAG."""
    alone = all(one.dag_id == run.dag_id for one in outcome.runs)
    return run.run_id if alone else f"{run.dag_id}/{run.run_id}"


def dags(outcome: Outcome) -> str:
    """The DAG that the runs are of, or how many there are."""
    ids = {one.dag_id for one in outcome.runs}
    return next(iter(ids)) if len(ids) == 1 else counted(len(ids), "DAG")
