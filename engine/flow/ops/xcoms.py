"""`flow xcom list` and `get`."""

from __future__ import annotations

from typing import NamedTuple

from flow.errors import NotFound
from flow.ops.deployment import Deployment
from flow.ops.references import find_run_and_graph, find_task
from flow.ops.suggest import did_you_mean
from flow.ops.unrun import from_before
from flow.store.connect import Conn
from flow.store.read import tasks
from flow.store.read.page import Page
from flow.store.read.tasks import Unrun, XCom


class XComsOfRun(NamedTuple):
    """XComs. `unrun`: the tries of which they are, if from before a clear without being asked."""

    page: Page[XCom]
    unrun: list[Unrun]


class OneXCom(NamedTuple):
    """An XCom. `unrun`: the try of which it is, if from before a clear without being asked."""

    xcom: XCom
    unrun: list[Unrun]


def page(
    deployment: Deployment,
    dag_id: str,
    reference: str,
    task: str | None = None,
    try_number: int | None = None,
    limit: int | None = None,
) -> XComsOfRun:
    """XComs of a run, or of one task of it: those of the last try, or of a given one."""
    conn = deployment.conn
    with deployment.snapshot():
        found = find_run_and_graph(conn, dag_id, reference)
        named = find_task(found, task) if task is not None else None
        pushed = tasks.xcoms(
            conn,
            found.found.run_key,
            task_id=named.task_id if named else None,
            map_path=named.map_index or None if named else None,
            try_number=try_number,
            limit=limit,
        )
        unrun = _unrun(conn, found.found.run_key, pushed.rows) if try_number is None else []
    return XComsOfRun(pushed, unrun)


def get(
    deployment: Deployment,
    dag_id: str,
    reference: str,
    task: str,
    key: str,
    try_number: int | None = None,
) -> OneXCom:
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
        meant = [one for one in pushed if one.key == key]
        unrun = _unrun(conn, found.found.run_key, meant) if try_number is None else []
    if meant:
        return OneXCom(meant[0], unrun)
    keys = [one.key for one in pushed]
    run = found.found.run
    otherwise = f"it has: {', '.join(keys)}" if keys else "it has none at all"
    raise NotFound(
        f"task {named} of {run.dag_id}/{run.run_id} has no XCom {key!r}",
        did_you_mean(key, keys, otherwise),
    )


def _unrun(conn: Conn, run_key: int, pushed: list[XCom]) -> list[Unrun]:
    return from_before(
        conn, run_key, ((one.task_id, one.map_index, one.try_number) for one in pushed)
    )
