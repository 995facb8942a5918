"""`flow tasks list` and `tries`."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.graph import Graph
from flow.ops.deployment import Deployment
from flow.ops.references import find_run_and_graph, find_task
from flow.ops.task_references import TaskReference
from flow.ops.unrun import from_before
from flow.states import TaskState
from flow.store.read import tasks
from flow.store.read.runs import Run
from flow.store.read.tasks import Task, Try, Unrun


class TasksOfRun(NamedTuple):
    """A run and its task instances, upstream first."""

    run: Run
    tasks: list[Task]


class TriesOfTask(NamedTuple):
    """A task instance and its tries. `unrun`: the last of them, if it was cleared after that."""

    run: Run
    made_at: datetime
    """When the run was made."""
    reference: TaskReference
    tries: list[Try]
    unrun: list[Unrun]


def list_(deployment: Deployment, dag_id: str, reference: str) -> TasksOfRun:
    """Every task of a run's version, also those that have no row yet (state none)."""
    conn = deployment.conn
    with deployment.snapshot():
        found, graph = find_run_and_graph(conn, dag_id, reference)
        rows = tasks.of_run(conn, found.run_key, found.run.run_id)
    return TasksOfRun(found.run, complete(graph, found.run, rows))


def tries(deployment: Deployment, dag_id: str, reference: str, task: str) -> TriesOfTask:
    """The tries of a task instance. Raises `NotFound`."""
    conn = deployment.conn
    with deployment.snapshot():
        found = find_run_and_graph(conn, dag_id, reference)
        named = find_task(found, task)
        run_key = found.found.run_key
        made = tasks.tries(conn, run_key, named.task_id, named.map_index)
        last = [(named.task_id, named.map_index, one.try_number) for one in made[-1:]]
        unrun = from_before(conn, run_key, last)
    return TriesOfTask(found.found.run, found.found.made_at, named, made, unrun)


def complete(graph: Graph, run: Run, rows: list[Task]) -> list[Task]:
    """The rows in the graph's order, a task without one as it would be written.

    Rows of tasks that the graph does not have come last.
    """
    by_task: dict[str, list[Task]] = {}
    for row in rows:
        by_task.setdefault(row.task_id, []).append(row)
    ordered: list[Task] = []
    for task_id in graph.order:
        instances = by_task.pop(task_id, None) or [_without_row(graph, run, task_id)]
        operator = graph.tasks[task_id].operator
        ordered += [row._replace(operator=operator) for row in instances]
    return [*ordered, *(row for left in by_task.values() for row in left)]


def _without_row(graph: Graph, run: Run, task_id: str) -> Task:
    spec = graph.tasks[task_id]
    return Task(
        dag_id=run.dag_id,
        run_id=run.run_id,
        task_id=task_id,
        map_index=[],
        state=TaskState.NONE.value,
        try_number=0,
        max_tries=spec.retries + 1,
        pool=spec.pool,
        pool_slots=spec.pool_slots,
        queue=spec.queue,
        executor=spec.executor,
        priority=spec.priority,
        scheduled_at=None,
        queued_at=None,
        started_at=None,
        ended_at=None,
        worker=None,
        operator=spec.operator,
        held=False,
    )
