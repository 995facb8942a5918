"""fair: 8,000 DAGs with three ready tasks each beside one with 10,000, all for one pool.

Usage: fair.py [--reduced]

The great DAG has waited longest. Slots are freed as soon as they are taken, 500 at a time of a pool
of 1,000, and a `flow schedule`'s own pass admits the next ones. A round is as many admissions as
there are DAGs with ready tasks: every DAG has to have a task admitted within two of them. The time
of an admission batch, from the freed slots to the commit, against the same batch by a bare update.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Final

from harness import Aim, Conn, Results, deployment, main, one
from stored import store_dags, store_specs

from flow.graph import DagSpec, TaskSpec
from flow.roles.schedule import Scheduler, Settings
from flow.store.connect import transaction
from flow.timetables import parse

AIM: Final = Aim(3.0)
ROUNDS: Final = Aim(2.0)
BATCHES: Final = 8
"""Timed at least."""
READY: Final = 3
OTHERS: Final = 22
POOL: Final = "scarce"

_FREE = """
with freed as (
  delete from task_hot where (run_key, task_id, map_path) in (
    select run_key, task_id, map_path from task_hot
    where pool = %(pool)s and state = 'queued' order by queued_at limit %(batch)s)),
woken as (insert into wakeup (kind, name) values ('pool', %(pool)s))
select 1
"""
_BARE = """
with next as (
  select run_key, task_id, map_path from task_hot
  where pool = %(pool)s and state = 'scheduled' limit %(batch)s for update skip locked)
update task_hot t set state = 'queued', queued_at = clock_timestamp() from next n
where t.run_key = n.run_key and t.task_id = n.task_id and t.map_path = n.map_path
"""


def measure(results: Results, reduced: bool) -> None:
    """Print rounds until every DAG was served, and the time of a batch against the bare one."""
    # Of the same size in both forms: what a batch costs whatever its size would count ten times as
    # much in a small one.
    batch = 500
    dags, great = (1_000, 4_000) if reduced else (8_000, 10_000)
    with deployment() as flow, flow.connect() as conn:
        specs = [_spec(dags, great), *(_spec(number, READY) for number in range(dags))]
        store_dags(conn, specs, store_specs(conn, specs), cursor=None, due=lambda number: None)
        conn.execute("insert into pool (name, slots) values (%s, 0)", (POOL,))
        conn.execute(
            """insert into process (role, host, pid, version, lost_after, executor, queues, slots)
               values ('work', 'bench', 1, 'bench', 1000000, 'local', '{default}', 0)"""
        )
        scheduler = Scheduler(Settings(flow.dsn, flow.dsn, "bench"), conn)
        _make_ready(conn, scheduler, dags)
        ready = one(conn, "select count(*) from task_hot where state = 'scheduled'")
        assert ready == great + dags * READY, f"{ready} tasks are ready"
        conn.execute("vacuum analyze task_hot, run")
        bare = _bare_batches(conn, batch)
        rounds, ours = _serve(conn, scheduler, dags, batch)
    results.line(rounds, "rounds", 1.0, ROUNDS, dags=dags + 1)
    results.line(ours, "ms", bare, AIM, batch=batch)


def _spec(number: int, ready: int) -> DagSpec:
    first = [
        TaskSpec(task_id=f"ready_{n:05}", operator="PythonOperator", pool=POOL)
        for n in range(ready)
    ]
    others = [
        TaskSpec(task_id=f"task_{n:02}", operator="PythonOperator", upstream=("ready_00000",))
        for n in range(OTHERS)
    ]
    return DagSpec(
        dag_id=f"dag_{number:05}",
        tasks=(*first, *others),
        timetable=parse(None, "UTC"),
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        max_active_tasks=max(16, ready),
    )


def _make_ready(conn: Conn, scheduler: Scheduler, dags: int) -> None:
    """Start a run of each DAG, the great one's an hour before the others'."""
    now = datetime.now(UTC)
    statement = """
        with made as (
          insert into run (dag_id, version, run_id, run_type, state, logical_date,
            data_interval_start, data_interval_end, interval_run, started_at)
          select dag_id, 1, 'bench', 'manual', 'running', %(at)s::timestamptz, %(at)s, %(at)s,
            false, %(at)s
          from dag where dag_id = any(%(dag_ids)s::text[]) order by dag_id returning run_key)
        insert into wakeup (kind, run_key) select 'run', run_key from made"""
    for at, numbers in ((now - timedelta(hours=1), [dags]), (now, range(dags))):
        dag_ids = [f"dag_{number:05}" for number in numbers]
        conn.execute(statement, {"at": at, "dag_ids": dag_ids})
        while scheduler.run_once():
            pass


def _bare_batches(conn: Conn, batch: int, count: int = 9) -> float:
    """Milliseconds of a bare update of as many rows; what it changes is put back."""
    taken = []
    for _ in range(count):
        conn.execute("begin")
        began = time.perf_counter()
        updated = conn.execute(_BARE, {"pool": POOL, "batch": batch}).rowcount
        conn.execute("commit")
        taken.append((time.perf_counter() - began) * 1000)
        assert updated == batch
        conn.execute(
            "update task_hot set state = 'scheduled', queued_at = null where state = 'queued'"
        )
    conn.execute("vacuum task_hot")
    return float(median(taken))


def _serve(conn: Conn, scheduler: Scheduler, dags: int, batch: int) -> tuple[float, float]:
    """Rounds until each DAG had a task admitted, and the median milliseconds of a batch."""
    size = 2 * batch
    with transaction(conn, "bench"):
        conn.execute("update pool set slots = %s where name = %s", (size, POOL))
        conn.execute("insert into wakeup (kind, name) values ('pool', %s)", (POOL,))
    served: set[str] = set()
    admitted, rounds, taken = 0, 0.0, []
    while admitted < max(2.5 * (dags + 1), size + BATCHES * batch):
        began = time.perf_counter()
        assert scheduler.run_once()
        took = (time.perf_counter() - began) * 1000
        found = conn.execute(
            "select dag_id from task_hot where pool = %s and state = 'queued'", (POOL,)
        ).fetchall()
        assert len(found) == size
        served |= {row[0] for row in found}
        if admitted:
            taken.append(took)
        admitted += batch if admitted else size
        if len(served) <= dags:
            rounds = (admitted + batch) / (dags + 1)
        conn.execute(_FREE, {"pool": POOL, "batch": batch})
    assert len(served) == dags + 1, f"{dags + 1 - len(served)} DAGs were never served"
    return rounds, float(median(taken))


if __name__ == "__main__":
    main("fair", measure)
