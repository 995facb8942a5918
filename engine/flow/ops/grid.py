"""`flow grid`: tasks × runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

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


_Branch: TypeAlias = "list[GridTask | _Branch]"
"""The lines of a group, and of the groups inside of it, in their order."""


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
                lines.append(line(row, old=True))
    seen = [one for one in lines if not one.old or any(one.states)]
    return Grid(dag_id, window.timezone, [column.run for column in window.columns], _grouped(seen))


def _states(column: Column, rows: Rows) -> dict[str, TaskState | None]:
    return {row.task_id: state_of(code) for row, code in zip(rows, column.states, strict=True)}


def _grouped(lines: Iterable[GridTask]) -> list[GridTask]:
    """The lines, each behind all before it of its innermost group that has any."""
    top: _Branch = []
    branches: dict[tuple[str, ...], _Branch] = {(): top}
    for one in lines:
        branch = top
        for depth in range(1, len(one.groups) + 1):
            path = tuple(one.groups[:depth])
            if path not in branches:
                branches[path] = []
                branch.append(branches[path])
            branch = branches[path]
        branch.append(one)
    return list(_flat(top))


def _flat(branch: _Branch) -> Iterator[GridTask]:
    for one in branch:
        if isinstance(one, GridTask):
            yield one
        else:
            yield from _flat(one)
