"""A deployment at a glance: what lives, what runs, what failed, what starts next."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.ops import status
from flow.ops.deployment import Deployment
from flow.ops.status import ProcessStatus, Status
from flow.store.read import activity, dags
from flow.store.read import status as stored
from flow.store.read.activity import Due
from flow.store.read.dags import FileError
from flow.store.read.page import Page
from flow.store.read.status import Load
from flow.task_reference import task_reference


class LatestFailure(NamedTuple):
    """A task that failed, named as people name it; without a task the run itself."""

    dag_id: str
    run_id: str
    task: str | None
    ended_at: datetime
    reason: str | None


class Overview(NamedTuple):
    """One moment. At most as many failures and coming runs as were asked for."""

    status: Status
    processes: list[ProcessStatus]
    load: Load
    failures: list[LatestFailure]
    errors: Page[FileError]
    due: list[Due]


def show(deployment: Deployment, limit: int) -> Overview:
    """What a deployment does; `limit` is the length of each list in it."""
    conn = deployment.conn
    with deployment.snapshot():
        processes = status.read_processes(deployment)
        return Overview(
            status.read(conn, processes),
            processes,
            stored.load(conn),
            [_failure(one) for one in activity.failures(conn, limit)],
            dags.errors(conn, limit),
            activity.due(conn, limit),
        )


def _failure(one: activity.Failure) -> LatestFailure:
    task = task_reference(one.task_id, one.map_index) if one.task_id else None
    return LatestFailure(one.dag_id, one.run_id, task, one.ended_at, one.reason)
