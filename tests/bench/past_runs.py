"""Runs of DAGs that `stored` has stored: long over, and under way, as they would have become.

Everything is written by a few statements over sets, in steps that keep transactions small.
"""

from __future__ import annotations

from typing import Final

from flow.store.connect import Conn

TASKS: Final = 25
"""Of each DAG of `stored`."""
_STEP: Final = 100_000
"""Tasks written in one transaction."""
# Run number N is that of DAG N modulo their number, so the keys grow with the days. Of the second
# day's runs one in ten has failed.
_RUNS: Final = """
insert into run (run_key, dag_id, version, run_id, run_type, state, logical_date,
  data_interval_start, data_interval_end, interval_run, run_after, queued_at, started_at, ended_at)
select run_key_floor(date_trunc('month', now())) + number, dag_id, 1, 'past_' || day,
  'scheduled', case when day = 1 and place %% 10 = 0 then 'failed' else 'success' end, start,
  start, due, true, due, due, due + waits, due + waits + interval '10 minutes'
from generate_series(%(first)s::int, %(last)s::int) number
cross join lateral (select number %% %(dags)s::int, number / %(dags)s::int) as of_dag(place, day)
cross join lateral (select 'team' || place %% 40 || '.dag_' || place) as named(dag_id)
cross join lateral (
  select %(until)s::date - (%(days)s::int - day), %(until)s::date - (%(days)s::int - day - 1)
) as of_day(start_day, due_day)
cross join lateral (select start_day::timestamp at time zone 'UTC',
  due_day::timestamp at time zone 'UTC', place * interval '0.3 seconds') as at(start, due, waits)
"""
_OF_THESE: Final = """
where r.run_key between run_key_floor(date_trunc('month', now())) + %(first)s::bigint
  and run_key_floor(date_trunc('month', now())) + %(last)s::bigint
"""
_TASK_IDS: Final = """
select case when place < 3 then 'root_' || place
  else 'task_' || lpad((place - 3)::text, 2, '0') end as task_id, place
from generate_series(0, 24) place
"""
_TASKS: Final = f"""
insert into task_history (run_key, task_id, dag_id, state, try_number, claim, pool, queue, executor,
  priority, scheduled_at, queued_at, started_at, ended_at, reason)
select r.run_key, t.task_id, r.dag_id, case when failed then 'failed' else 'success' end, 1, 1,
  'default_pool', 'default', 'local', 1, r.started_at, r.started_at, r.started_at, r.ended_at,
  case when failed then 'exit code 1' end
from run r cross join ({_TASK_IDS}) t
cross join lateral (select r.state = 'failed' and t.place = 24) as ended(failed)
{_OF_THESE}
"""
_TRIES: Final = f"""
insert into try_history (run_key, task_id, try_number, claim, state, started_at, ended_at, worker,
  host, pid, executor, queue, exit_code, peak_rss, cpu_time, log)
select r.run_key, r.task_id, 1, 1, r.state, r.started_at, r.ended_at, 1, 'host', 1, 'local',
  'default', (r.state = 'failed')::int, 50000000, 0.01,
  '/var/lib/flow/logs/' || r.dag_id || '/' || r.run_key || '/' || r.task_id || '/1.log'
from task_history r
{_OF_THESE}
"""
_VALUES: Final = f"""
insert into xcom_history (run_key, task_id, try_number, key, value)
select r.run_key, 'root_0', 1, 'return_value', '"a value"' from run r
{_OF_THESE}
"""
_NOW: Final = f"""
with made as (
  insert into run (dag_id, version, run_id, run_type, state, logical_date, data_interval_start,
    data_interval_end, interval_run, queued_at, started_at)
  select dag_id, 1, 'now_' || place, 'scheduled', 'running', today, today, today + interval '1 day',
    true, at, at
  from generate_series(0, %(runs)s::int - 1) place
  cross join lateral (select 'team' || place %% 40 || '.dag_' || place) as named(dag_id)
  cross join lateral (select current_date::timestamp at time zone 'UTC',
    now() - (%(runs)s::int - place) * interval '0.2 seconds') as day(today, at)
  returning run_key, dag_id, started_at as at)
insert into task_hot (run_key, task_id, dag_id, state, try_number, claim, pool, queue, executor,
  priority, rank, scheduled_at, queued_at, started_at, ended_at)
select run_key, task_id, dag_id, case when waits then 'queued' else 'success' end, 1,
  (not waits)::int, 'default_pool', 'default', 'local', 1,
  1000 * row_number() over (order by run_key, place), at, at, case when not waits then at end,
  case when not waits then at end
from made cross join ({_TASK_IDS}) t cross join lateral (select t.place >= 13) as stands(waits)
where t.place < 16
"""
_NOW_TRIES: Final = """
insert into try_hot (run_key, task_id, try_number, claim, state, started_at, ended_at, worker, host,
  pid, executor, queue, exit_code, log)
select run_key, task_id, 1, 1, state, started_at, ended_at, 1, 'host', 1, 'local', 'default', 0,
  '/var/lib/flow/logs/' || dag_id || '/' || run_key || '/' || task_id || '/1.log'
from task_hot where state = 'success'
"""
_NOW_VALUES: Final = """
insert into xcom_hot (run_key, task_id, try_number, key, value)
select run_key, task_id, 1, 'return_value', '"a value"' from task_hot where state = 'success'
"""
_BACKFILL: Final = """
with made as (
  insert into backfill (dag_id, state, run_order, reprocess, version, max_active_runs, created_by,
    ended_at)
  values (%(dag_id)s, 'done', 'oldest', 'none', 'latest', 1, 'flow', now()) returning backfill_id)
insert into backfill_interval (backfill_id, ordinal, dag_id, data_interval_start,
  data_interval_end, action, run_key, active)
select made.backfill_id, row_number() over (order by run_key), dag_id, data_interval_start,
  data_interval_end, 'create', run_key, false
from made, run where dag_id = %(dag_id)s and ended_at is not null
"""


def write_ended(conn: Conn, *, dags: int, runs: int, until: str = "today") -> None:
    """The runs of the days before `until`, one a day for each of the first `dags` DAGs.

    `until` is a date as PostgreSQL reads it; `runs` counts those of all DAGs.
    """
    step = _STEP // TASKS
    shape = {"dags": dags, "days": -(-runs // dags), "until": until}
    for first in range(0, runs, step):
        values = shape | {"first": first, "last": min(first + step, runs) - 1}
        with conn.transaction():
            for statement in (_RUNS, _TASKS, _TRIES, _VALUES):
                conn.execute(statement, values)
    conn.execute("vacuum analyze run")
    conn.execute("analyze task_history, try_history, xcom_history")
    conn.execute("checkpoint")


def write_running(conn: Conn, runs: int) -> None:
    """A run of today for each of the first `runs` DAGs: 13 tasks are over, 3 wait for a worker."""
    conn.execute(_NOW, {"runs": runs})
    conn.execute(_NOW_TRIES)
    conn.execute(_NOW_VALUES)
    conn.execute("vacuum analyze run, task_hot, try_hot, xcom_hot")


def write_backfill(conn: Conn, dag_id: str) -> None:
    """A backfill that has made all ended runs of a DAG; in a fresh database its number is 1."""
    conn.execute(_BACKFILL, {"dag_id": dag_id})
