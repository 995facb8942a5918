"""Which tasks of a run a request for logs is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from flow.errors import NotFound
from flow.ops.deployment import Deployment
from flow.ops.logs.source import Request
from flow.ops.references import RunAndGraph, find_run_and_graph, find_task
from flow.ops.selection import WILD, select
from flow.ops.task_references import TaskReference
from flow.states import TaskState
from flow.store.connect import Conn
from flow.store.read import tasks

_SELECTING: Final = WILD | {"+", ","}


def chosen(deployment: Deployment, request: Request) -> Request:
    """The request with the id of its run and the names of single tasks, each once.

    Texts may be names or selections; without any the tasks are meant that failed. Raises
    `NotFound` for a part that names nothing, and where nothing is named and nothing failed.
    """
    with deployment.snapshot():
        found = find_run_and_graph(deployment.conn, request.dag_id, request.run)
        if request.tasks:
            meant = [one for text in request.tasks for one in _meant(found, text)]
            selected = any(_selects(found, text) for text in request.tasks)
        else:
            meant, selected = _failed(deployment.conn, found), True
    names = list(dict.fromkeys(map(str, meant)))
    return request._replace(run=found.found.run.run_id, tasks=names, selected=selected)


def _meant(found: RunAndGraph, text: str) -> Iterator[TaskReference]:
    if not _selects(found, text):
        yield find_task(found, text)
        return
    for task_id, instances in select(found.graph, text).instances.items():
        for map_path in sorted(instances or {()}):
            yield TaskReference(task_id, map_path)


def _selects(found: RunAndGraph, text: str) -> bool:
    """Whether a text is more than the name of one task."""
    if text in found.graph.tasks:
        return False
    groups = {group.group_id for group in found.graph.spec.groups}
    return text in groups or bool(_SELECTING & set(text))


def _failed(conn: Conn, found: RunAndGraph) -> list[TaskReference]:
    counted = tasks.counts(conn, [found.found.run_key])
    failed = {one.task_id for one in counted if one.state == TaskState.FAILED}
    run = found.found.run
    if not failed:
        raise NotFound(
            f"no task of {run.dag_id}/{run.run_id} has failed, and none is named",
            f"name tasks, or all of them: flow logs {run.dag_id} {run.run_id} '*'",
        )
    return [TaskReference(task_id) for task_id in found.graph.order if task_id in failed]
