"""`flow tasks list` and `tries`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flow.graph import Graph
from flow.ops.deployment import Deployment
from flow.ops.references import find_run_and_graph, find_task
from flow.ops.task_references import TaskReference
from flow.states import TaskState
from flow.store.read import tasks
from flow.store.read.runs import Run
from flow.store.read.tasks import Task, Try, Unrun


class TasksOfRun(NamedTuple):
    """A run and its task instances, upstream first."""

    run: Run
    tasks: list[Task]


class TriesOfTask(NamedTuple):
    """A task instance and its tries. `unrun`: it was cleared after the last of them."""

    run: Run
    reference: TaskReference
    tries: list[Try]
    unrun: bool


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
        before = tasks.unrun(conn, run_key, named.task_id) if made else []
    unrun = any(tuple(one.map_index) == named.map_index for one in before)
    return TriesOfTask(found.found.run, named, made, unrun)


def unrun(
    deployment: Deployment, dag_id: str, reference: str, named: Sequence[str] = ()
) -> list[Unrun]:
    """Task instances of a run, or the named ones, that have not run since they were cleared.

    What there is of them is of the try before. A mapped task may be named without an index. Raises
    `NotFound`.
    """
    conn = deployment.conn
    with deployment.snapshot():
        found = find_run_and_graph(conn, dag_id, reference)
        meant = [find_task(found, task) for task in named]
        before = tasks.unrun(conn, found.found.run_key)
    return [
        one
        for one in before
        if not meant
        or any(
            task.task_id == one.task_id and task.map_index in ((), tuple(one.map_index))
            for task in meant
        )
    ]


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
