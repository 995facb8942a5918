"""`flow grid`: tasks × runs."""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple

from flow.ops import grid_window
from flow.ops.deployment import Deployment
from flow.ops.grid_window import Column, GridRow, Rows, state_of
from flow.states import TaskState
from flow.store.read.grid import GridRun


class GridTask(NamedTuple):
    """One line: the task's state in each run; None where the run's version does not have it."""

    task_id: str
    groups: list[str]
    """Those that it is inside, outermost first."""
    states: list[TaskState | None]
    old: bool = False
    """The DAG's latest version does not have it any more."""


class Grid(NamedTuple):
    """The newest runs of a DAG, oldest of them first, and its tasks.

    Those of its latest version stand upstream first, those of a group together. Behind them, within
    their groups, stand those that only older versions have, if one of the runs has them.
    """

    dag_id: str
    timezone: str
    runs: list[GridRun]
    tasks: list[GridTask]


def show(deployment: Deployment, dag_id: str, limit: int) -> Grid:
    """The grid of the newest runs. Raises `NotFound`."""
    window = grid_window.newest(deployment, dag_id, limit)
    states = [_states(column, window.rows[column.graph]) for column in window.columns]

    def line(row: GridRow, *, old: bool) -> GridTask:
        in_runs = [of_run.get(row.task_id) for of_run in states]
        return GridTask(row.task_id, list(row.groups), in_runs, old)

    lines = [line(row, old=False) for row in window.rows[window.latest]]
    known = {one.task_id for one in lines}
    for column in reversed(window.columns):
        for row in window.rows[column.graph]:
            if row.task_id not in known:
                known.add(row.task_id)
                _place(lines, line(row, old=True))
    lines = [one for one in lines if not one.old or any(one.states)]
    return Grid(dag_id, window.timezone, [column.run for column in window.columns], lines)


def _states(column: Column, rows: Rows) -> dict[str, TaskState | None]:
    return {row.task_id: state_of(code) for row, code in zip(rows, column.states, strict=True)}


def _place(lines: list[GridTask], one: GridTask) -> None:
    """Put a line behind all others of its innermost group that is there."""
    shared = [_shared(line.groups, one.groups) for line in lines]
    most = max(shared, default=0)
    lines.insert(len(shared) - shared[::-1].index(most) if most else len(lines), one)


def _shared(groups: list[str], others: list[str]) -> int:
    """How many outermost groups are the same."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(groups, others, strict=False))))
