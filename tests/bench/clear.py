"""clear: how long clearing 90 runs of 25 tasks takes, against writing the same rows in bare SQL.

Usage: clear.py [--reduced]

In one transaction, of runs that had ended, each time of another DAG. The floor moves the rows of
tasks and tries from history to the hot tables, the tasks as none, and puts the runs back into the
queue, in three statements within a transaction like the operation's. How many statements the
operation sends must not depend on how many runs there are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date, timedelta
from statistics import median
from typing import Any, Final

from harness import Aim, Conn, Results, deployment, main, one
from psycopg import ClientCursor
from stored import OTHERS, ROOTS, rooted_spec, store_dags, store_specs

from flow.config import load
from flow.ops import clearing
from flow.ops.deployment import Deployment
from flow.ops.run_ranges import Which
from flow.store.connect import Row, transaction

AIM: Final = Aim(5.0)
RUNS: Final = 90
FEW: Final = 9
TASKS: Final = ROOTS + OTHERS
_MAKE_RUNS: Final = """
insert into run (dag_id, version, run_id, run_type, state, logical_date, data_interval_start,
  data_interval_end, interval_run, started_at, ended_at)
select dag_id, 1, 'past_' || number, 'scheduled', 'success', start, start,
  start + interval '1 day', true, start, start
from dag, generate_series(1, %(runs)s) number,
  lateral (select timestamptz '2026-01-01' + number * interval '1 day') as of_day(start)
"""
_MAKE_TASKS: Final = """
insert into task_history (run_key, task_id, dag_id, state, try_number, claim, pool, queue, executor,
  priority, scheduled_at, queued_at, started_at, ended_at)
select r.run_key, t.task ->> 'task_id', r.dag_id, 'success', 1, 1, 'default_pool', 'default',
  'local', 1, r.started_at, r.started_at, r.started_at, r.ended_at
from run r join dag_version v on v.dag_id = r.dag_id join spec s on s.hash = v.spec_hash,
  lateral jsonb_array_elements(s.body::jsonb -> 'tasks') as t(task)
"""
_MAKE_TRIES: Final = """
insert into try_history (run_key, task_id, try_number, claim, state, started_at, ended_at, worker,
  host, pid, executor, queue, exit_code, peak_rss, cpu_time, log)
select run_key, task_id, 1, 1, 'success', started_at, ended_at, 1, 'host', 1, 'local', 'default', 0,
  50000000, 0.01, '/var/lib/flow/logs/' || dag_id || '/' || run_key || '/' || task_id || '/1.log'
from task_history
"""
_BARE: Final = (
    """
update run set state = 'queued', reason = null, queued_at = clock_timestamp(), started_at = null,
  ended_at = null
where run_key = any(%(run_keys)s)
""",
    """
with moved as (delete from task_history where run_key = any(%(run_keys)s) returning *)
insert into task_hot (run_key, task_id, map_path, dag_id, state, try_number, max_tries, claim, pool,
  pool_slots, queue, executor, priority, rank, turn, stride, reason)
select run_key, task_id, map_path, dag_id, 'none', try_number, max_tries, claim, pool, pool_slots,
  queue, executor, priority, rank, turn, stride, 'cleared'
from moved
""",
    """
with moved as (delete from try_history where run_key = any(%(run_keys)s) returning *)
insert into try_hot select * from moved
""",
)
_CLEARED: Final = "select count(*) from task_hot where state = 'none'"


class Counted(ClientCursor[Row]):
    """A cursor that counts the statements of this process."""

    sent = 0

    def execute(self, *arguments: Any, **how: Any) -> Counted:
        Counted.sent += 1
        return super().execute(*arguments, **how)


def measure(results: Results, reduced: bool) -> None:
    """Print the time of a clear against that of its floor."""
    rounds = 3 if reduced else 15
    with deployment() as flow, flow.connect() as conn:
        conn.cursor_factory = Counted
        settings = load(environ=flow.environment, folder=flow.home).settings
        operations = Deployment(settings, conn)
        few, *dag_ids = _make(conn, 1 + 2 * (rounds + 1))
        of_few = _statements(lambda: _clear(operations, few, FEW))
        of_all = _statements(lambda: _clear(operations, dag_ids.pop(), RUNS))
        assert of_few == of_all, f"{of_few} statements for {FEW} runs, {of_all} for {RUNS}"
        _bare(conn, dag_ids.pop())
        took, floor = [], []
        for _ in range(rounds):
            took.append(_seconds(lambda: _clear(operations, dag_ids.pop(), RUNS)))
            floor.append(_seconds(lambda: _bare(conn, dag_ids.pop())))
        assert one(conn, _CLEARED) == (FEW + RUNS * 2 * (rounds + 1)) * TASKS
    results.line(
        median(took) * 1e3, "ms", median(floor) * 1e3, AIM,
        statements=of_all, runs=RUNS, tasks=RUNS * TASKS,
    )  # fmt: skip


def _make(conn: Conn, count: int) -> list[str]:
    """DAGs with runs that have ended; their ids."""
    specs = [rooted_spec(number) for number in range(count)]
    store_dags(conn, specs, store_specs(conn, specs), cursor=None, due=lambda number: None)
    with transaction(conn, "bench"):
        conn.execute(_MAKE_RUNS, {"runs": RUNS})
        conn.execute(_MAKE_TASKS)
        conn.execute(_MAKE_TRIES)
    conn.execute("vacuum analyze")
    return [spec.dag_id for spec in specs]


def _clear(operations: Deployment, dag_id: str, runs: int) -> None:
    last = date(2026, 1, 1) + timedelta(days=runs)
    which = Which(start="2026-01-02", end=last.isoformat())
    done = clearing.clear(operations, clearing.Wish(dag_id, which))
    assert (len(done.runs), done.changes) == (runs, runs * TASKS)


def _bare(conn: Conn, dag_id: str) -> None:
    with transaction(conn, "bench"):
        rows = conn.execute("select run_key from run where dag_id = %s", (dag_id,)).fetchall()
        for statement in _BARE:
            conn.execute(statement, {"run_keys": [run_key for (run_key,) in rows]})


def _statements(act: Callable[[], None]) -> int:
    before = Counted.sent
    act()
    return Counted.sent - before


def _seconds(act: Callable[[], None]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


if __name__ == "__main__":
    main("clear", measure)
