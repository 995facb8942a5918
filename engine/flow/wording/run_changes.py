"""What `flow runs cancel|delete|mark|pause|resume` do to runs, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

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


class DeleteWords:
    """Of `flow runs delete`."""

    def describe(self, done: Deleting) -> list[str]:
        return [
            f"{name(done, run)}: {run.state}, {counted(run.tasks, 'task')}" for run in done.runs
        ]

    def question(self, done: Deleting) -> str:
        return f"Delete {counted(len(done.runs), 'run')} of {dags(done)}?"


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


class PauseWords:
    """Of `flow runs pause` and `resume`; `verb` is one of them."""

    def __init__(self, verb: str) -> None:
        self.verb = verb

    def describe(self, done: Pausing) -> list[str]:
        becomes = "paused" if self.verb == "pause" else "goes on"
        return [f"{name(done, run)}: {run.state}, {becomes}" for run in done.runs]

    def question(self, done: Pausing) -> str:
        return f"{self.verb.capitalize()} {counted(len(done.runs), 'run')} of {dags(done)}?"


def name(outcome: Outcome, run: OneRun) -> str:
    """A run by its id alone where all are of one DAG."""
    alone = all(one.dag_id == run.dag_id for one in outcome.runs)
    return run.run_id if alone else f"{run.dag_id}/{run.run_id}"


def dags(outcome: Outcome) -> str:
    """The DAG that the runs are of, or how many there are."""
    ids = {one.dag_id for one in outcome.runs}
    return next(iter(ids)) if len(ids) == 1 else counted(len(ids), "DAG")
