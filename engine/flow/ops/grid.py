"""`flow grid`: tasks × runs."""

from __future__ import annotations

from typing import NamedTuple

from flow.ops import grid_window
from flow.ops.deployment import Deployment
from flow.ops.grid_window import Column, Rows, state_of
from flow.states import TaskState
from flow.store.read.grid import GridRun


class GridTask(NamedTuple):
    """One line: the task's state in each run; None where the run's version does not have it."""

    task_id: str
    groups: list[str]
    """Those that it is inside, outermost first."""
    states: list[TaskState | None]


class Grid(NamedTuple):
    """The newest runs of a DAG, oldest of them first, and the tasks of its latest version.

    Tasks stand upstream first, those of a group together.
    """

    dag_id: str
    timezone: str
    runs: list[GridRun]
    tasks: list[GridTask]


def show(deployment: Deployment, dag_id: str, limit: int) -> Grid:
    """The grid of the newest runs. Raises `NotFound`."""
    window = grid_window.newest(deployment, dag_id, limit)
    states = [_states(column, window.rows[column.graph]) for column in window.columns]
    lines = [
        GridTask(row.task_id, list(row.groups), [of_run.get(row.task_id) for of_run in states])
        for row in window.rows[window.latest]
    ]
    return Grid(dag_id, window.timezone, [column.run for column in window.columns], lines)


def _states(column: Column, rows: Rows) -> dict[str, TaskState | None]:
    return {row.task_id: state_of(code) for row, code in zip(rows, column.states, strict=True)}
