"""`flow` on a deployment: a real database, and a scheduler that makes its passes on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.graph import GroupSpec, TaskSpec
from flow.ops import running
from flow.ops.running import Wish
from flow.states import TaskState
from flow.store.connect import Conn
from operations_world import World
from postgres import connection, database, server, url_of  # noqa: F401


@pytest.fixture
def world(
    database: str,  # noqa: F811
    connection: Conn,  # noqa: F811
    environment: dict[str, str],
) -> World:
    """A migrated deployment that `flow` finds, with a worker and no DAG."""
    environment["FLOW_DATABASE_URL"] = url_of(database)
    made = World(database, connection, Path(environment["FLOW_HOME"]))
    made.home.mkdir()
    made.start_worker()
    return made


@pytest.fixture
def sales(world: World) -> World:
    """DAG `sales` with three finished runs, the second of them failed, all at known times."""
    tasks = [
        TaskSpec(task_id="extract", operator="BashOperator"),
        TaskSpec(task_id="load.ch", operator="PythonOperator", group="load", upstream=("extract",)),
        TaskSpec(task_id="load.de", operator="PythonOperator", group="load", upstream=("extract",)),
        TaskSpec(task_id="report", operator="BashOperator", upstream=("load.ch", "load.de")),
    ]
    world.define("sales", tasks, groups=(GroupSpec(group_id="load"),), tags=("eu",))
    for day in (7, 8, 9):
        running.run(world.deployment, Wish("sales", date=f"2026-07-0{day}"))
        world.finish({"load.ch": TaskState.FAILED} if day == 8 else {})
    world.fix_what_varies()
    return world
