"""Conditions on the tasks of runs, over the fields of both: `dag~sales_* and try_number>=2`.

A field that runs and tasks both have, such as `state`, is the run's, as for the verbs that choose
runs; `task.state` is the task's. `run.state` says the first in full.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final, NamedTuple

from flow.ops import where
from flow.ops.run_ranges import RUN_WORDS
from flow.ops.where import Fields, Part, Words, fields_of
from flow.states import TaskState
from flow.store.read.runs import Run
from flow.store.read.tasks import Task

_OF_RUNS: Final = frozenset({*Run._fields, *(f"run.{name}" for name in Run._fields)})

_WORDS: Final[Words] = {
    **RUN_WORDS,
    **{f"run.{name}": words for name, words in RUN_WORDS.items()},
    "task.state": tuple(TaskState),
}


class TaskCondition(NamedTuple):
    """A condition: the parts that runs alone decide, and those that need a task too."""

    of_runs: list[Part]
    of_tasks: list[Part]

    def fits_run(self, run: Run) -> bool:
        """Whether tasks of a run may fit."""
        row = _row_of_run(run)
        return all(part.fits(row) for part in self.of_runs)

    def fits_task(self, run: Run, task: Task) -> bool:
        """Whether a task of a run that fits does too."""
        row = _row_of_task(run, task)
        return all(part.fits(row) for part in self.of_tasks)


def read_condition(text: str, zone: tzinfo, now: datetime) -> TaskCondition:
    """Read a condition; dates without an offset are in `zone`. Raises `UsageError`."""
    parts = where.parts(text, _fields(zone, now))
    of_runs = [part for part in parts if part.fields <= _OF_RUNS]
    of_tasks = [part for part in parts if not part.fields <= _OF_RUNS]
    return TaskCondition(of_runs, of_tasks)


def _fields(zone: tzinfo, now: datetime) -> Fields:
    runs, tasks = fields_of(Run, zone, now), fields_of(Task, zone, now)
    types = {
        **tasks.types,
        **runs.types,
        **{f"task.{name}": kind for name, kind in tasks.types.items()},
        **{f"run.{name}": kind for name, kind in runs.types.items()},
    }
    return runs._replace(types=types, words=_WORDS)


def _row_of_run(run: Run) -> dict[str, object]:
    fields = run._asdict()
    return {**fields, **{f"run.{name}": value for name, value in fields.items()}}


def _row_of_task(run: Run, task: Task) -> dict[str, object]:
    fields = task._asdict()
    return {
        **fields,
        **_row_of_run(run),
        **{f"task.{name}": value for name, value in fields.items()},
    }
