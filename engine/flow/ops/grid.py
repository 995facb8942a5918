"""`flow grid`: tasks × runs."""

from __future__ import annotations

from typing import NamedTuple

from flow.graph.grouping import by_group
from flow.ops.deployment import Deployment
from flow.ops.references import find_dag, load_graph
from flow.states import FINISHED_RUNS, TaskState, loudest
from flow.store.read import grid, tasks
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
    """The grid of the newest runs. Raises `NotFound`.

    A finished run has a row for each task it had, so a task without one was not in its version; in
    an unfinished run a task without a row is in state none.
    """
    conn = deployment.conn
    with deployment.snapshot():
        dag = find_dag(conn, dag_id)
        graph = load_graph(conn, dag.spec_hash)
        runs = grid.runs(conn, dag_id, limit)
        counted = tasks.counts(conn, [run.run_key for run in runs])
    found: dict[tuple[int, str], set[TaskState]] = {}
    for one in counted:
        found.setdefault((one.run_key, one.task_id), set()).add(TaskState(one.state))
    in_order = [graph.tasks[task_id] for task_id in graph.order]
    lines = [
        GridTask(
            task.task_id,
            list(groups),
            [_cell(run, found.get((run.run_key, task.task_id))) for run in runs],
        )
        for task, groups in by_group(in_order, graph.spec.groups)
    ]
    return Grid(dag_id, dag.timezone, runs, lines)


def _cell(run: GridRun, states: set[TaskState] | None) -> TaskState | None:
    if states:
        return loudest(states)
    return None if run.state in FINISHED_RUNS else TaskState.NONE
