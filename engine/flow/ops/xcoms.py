"""`flow xcom list` and `get`."""

from __future__ import annotations

from flow.errors import NotFound
from flow.ops.deployment import Deployment
from flow.ops.references import find_run_and_graph, find_task
from flow.ops.suggest import did_you_mean
from flow.store.read import tasks
from flow.store.read.page import Page
from flow.store.read.tasks import XCom


def page(
    deployment: Deployment,
    dag_id: str,
    reference: str,
    task: str | None = None,
    try_number: int | None = None,
    limit: int | None = None,
) -> Page[XCom]:
    """XComs of a run, or of one task of it: those of the last try, or of a given one."""
    conn = deployment.conn
    with deployment.snapshot():
        found = find_run_and_graph(conn, dag_id, reference)
        named = find_task(found, task) if task is not None else None
        return tasks.xcoms(
            conn,
            found.found.run_key,
            task_id=named.task_id if named else None,
            map_path=named.map_index or None if named else None,
            try_number=try_number,
            limit=limit,
        )


def get(
    deployment: Deployment,
    dag_id: str,
    reference: str,
    task: str,
    key: str,
    try_number: int | None = None,
) -> XCom:
    """One XCom. Raises `NotFound` naming the keys that there are."""
    conn = deployment.conn
    with deployment.snapshot():
        found = find_run_and_graph(conn, dag_id, reference)
        named = find_task(found, task)
        pushed = tasks.xcoms(
            conn,
            found.found.run_key,
            task_id=named.task_id,
            map_path=named.map_index,
            try_number=try_number,
        ).rows
    for one in pushed:
        if one.key == key:
            return one
    keys = [one.key for one in pushed]
    run = found.found.run
    otherwise = f"it has: {', '.join(keys)}" if keys else "it has none at all"
    raise NotFound(
        f"task {named} of {run.dag_id}/{run.run_id} has no XCom {key!r}",
        did_you_mean(key, keys, otherwise),
    )
