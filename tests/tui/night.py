"""A deployment in the morning after a night in which some things went wrong; at known times."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from flow.graph import TaskSpec
from flow.graph.imported import ImportFailure
from flow.ops import backfilling, pools, running
from flow.ops.backfilling import Wish as BackfillWish
from flow.ops.running import Wish
from flow.states import TaskState
from flow.store import dag_files, processes
from flow.store.connect import Conn, transaction
from flow.store.dag_files import ParsedFile
from operations_world import World

NOW: Final = datetime(2026, 7, 10, 6, 30, tzinfo=UTC)
BROKEN: Final = "/dags/shop/prices.py"

_TIMES: Final = (
    "update {table} set started_at = case when started_at is not null"
    " then timestamptz '2026-07-10 06:00:01+00' end,"
    " ended_at = case when ended_at is not null then timestamptz '2026-07-10 06:01:05+00' end"
)
_REST: Final = (
    "update task_hot set queued_at = case when queued_at is not null"
    " then timestamptz '2026-07-10 06:10:00+00' end, scheduled_at = '2026-07-10 06:09:00+00'",
    "update run set queued_at = '2026-07-10 06:00:00+00'",
    "update dag set next_run_at = '2026-07-11 06:00:00+00', next_start = '2026-07-10 06:00:00+00',"
    " next_end = '2026-07-11 06:00:00+00' where dag_id = 'sales'",
    "update dag_file set parsed_at = '2026-07-10 05:00:00+00', seconds = 0.25,"
    " error_since = case when error is not null then timestamptz '2026-07-10 03:30:00+00' end",
    "update process set pid = 4000 + process_id, host = 'etl-1', version = '1.0',"
    " started_at = '2026-07-09 06:30:00+00', heartbeat_at = now() + interval '1 hour'",
    "update dag_version set created_at = '2026-07-09 06:00:00+00'",
    "update try_history set host = 'etl-1'",
    "update try_hot set host = 'etl-1'",
    "update audit set at = '2026-07-10 06:20:00+00', os_user = 'anna', db_role = 'flow',"
    " host = 'etl-1'",
    "update audit set after = '{\"version\": 1}' where target = 'orders/now'",
    "update backfill set created_at = '2026-07-10 06:00:00+00', created_by = 'anna'",
    "delete from wakeup",
)


def build(dsn: str, conn: Conn, home: Path) -> World:
    """Four DAGs, a pool that is full, a backfill under way, a file that is broken."""
    world = World(dsn, conn, home)
    world.start_worker()
    with transaction(conn, "test"):
        for role in ("parse", "schedule"):
            processes.register(conn, role=role, host="here", pid=1, version="x", lost_after=300.0)
    pools.set_(world.deployment, "warehouse", 1, description="What the warehouse can bear")
    _sales(world)
    world.define("archive", schedule="@monthly", paused=True, file="/dags/archive.py")
    _orders(world)
    with transaction(conn, "test"):
        failure = ImportFailure(
            "NameError: name 'prcie' is not defined",
            4,
            'Traceback (most recent call last):\n  File "prices.py", line 4\nNameError: prcie',
        )
        dag_files.put(conn, ParsedFile(BROKEN, "c1"), failure)
    for table in ("run", "task_history", "try_history"):
        conn.execute(_TIMES.format(table=table))
    for statement in _REST:
        conn.execute(statement)
    return world


def _sales(world: World) -> None:
    """A DAG with a failed run, and a backfill of which one interval is done and one failed.

    Its schedule has ended, so that nothing depends on when this is built.
    """
    chain = [
        TaskSpec(task_id="extract", operator="BashOperator", owner="anna"),
        TaskSpec(task_id="load", operator="PythonOperator", owner="anna", upstream=("extract",)),
    ]
    ended: dict[str, Any] = {"end_date": datetime(2026, 7, 10, tzinfo=UTC), "catchup": "none"}
    world.define("sales", chain, schedule="0 6 * * *", tags=("shop", "nightly"), **ended)
    for day in (7, 8, 9):
        running.run(world.deployment, Wish("sales", date=f"2026-07-0{day}T06:00"))
        world.finish({"load": TaskState.FAILED} if day == 8 else {})
    wish = BackfillWish("sales", "2026-06-01", "2026-06-08", max_active_runs=1)
    backfilling.create(world.deployment, wish, None)
    for load in (TaskState.SUCCESS, TaskState.FAILED):
        world.schedule()
        for _ in range(2):
            for task_id, claimed in world.claim(1).items():
                world.end(claimed, load if task_id == "load" else TaskState.SUCCESS)
            world.schedule()


def _orders(world: World) -> None:
    """A run with one task in the only slot of its pool, and two that wait for it."""
    tasks = [
        TaskSpec(task_id=f"part_{number}", operator="PythonOperator", pool="warehouse")
        for number in (1, 2, 3)
    ]
    world.define("orders", tasks, file="/dags/shop/orders.py", tags=("shop",))
    running.run(world.deployment, Wish("orders", run_id="now"))
    world.schedule()
    world.claim()
