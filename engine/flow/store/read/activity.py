"""What happens in a deployment, at a glance: last runs, latest failures, what starts next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from flow.store.connect import Conn


class LastRun(NamedTuple):
    """One of the newest runs of a DAG."""

    dag_id: str
    run_id: str
    state: str
    run_type: str
    logical_date: datetime
    started_at: datetime | None
    ended_at: datetime | None


class Failure(NamedTuple):
    """A task that failed, or a run that failed without one (`task_id` is null)."""

    dag_id: str
    run_id: str
    task_id: str | None
    map_index: list[int]
    ended_at: datetime
    reason: str | None


class Due(NamedTuple):
    """When the schedule of a DAG makes its next run, and for which interval."""

    dag_id: str
    next_run_at: datetime
    data_interval_start: datetime


# Index run_by_date, a few rows for each DAG that is asked for.
_LAST_RUNS = """
select asked.dag_id, r.run_id, r.state, r.run_type, r.logical_date, r.started_at, r.ended_at
from unnest(%(dag_ids)s::text[]) as asked(dag_id), lateral (
  select * from run where dag_id = asked.dag_id
  order by logical_date desc, run_key desc limit %(limit)s) as r
order by asked.dag_id, r.logical_date, r.run_key
"""

# One probe of index run_by_date for each DAG; index run_unfinished.
_FAILING = """
select d.dag_id from dag d where d.present and (select r.state from run r
  where r.dag_id = d.dag_id order by r.logical_date desc, r.run_key desc limit 1) = 'failed'
"""
_RUNNING = """
select distinct dag_id from run where state = 'running' and state in ('queued', 'running')
"""

# Tasks of runs that go on: index task_failed. Of those that ended failed: index run_failed from its
# end, and the rows of just those runs, by the prefix of their primary key.
_FAILURES = """
with going_on as materialized (
  select run_key, task_id, map_path, ended_at, reason from task_hot
  where state = 'failed' order by ended_at desc limit %(limit)s),
ended as materialized (
  select * from run where state = 'failed' order by run_key desc limit %(limit)s)
select r.dag_id, r.run_id, t.task_id, t.map_path, t.ended_at, t.reason
from going_on t join run r on r.run_key = t.run_key
union all
select r.dag_id, r.run_id, t.task_id, coalesce(t.map_path, '{}'), coalesce(t.ended_at, r.ended_at),
  coalesce(t.reason, r.reason)
from ended r left join lateral (
  select task_id, map_path, ended_at, reason from task_history
  where run_key = r.run_key and state = 'failed'
  order by ended_at, task_id, map_path limit 1) as t on true
order by 5 desc, 1, 2, 3 limit %(limit)s
"""

# Index dag_due.
_DUE = """
select dag_id, next_run_at, next_start from dag
where present and not paused and next_run_at is not null
order by next_run_at, dag_id limit %(limit)s
"""


def last_runs(conn: Conn, dag_ids: Sequence[str], limit: int) -> list[LastRun]:
    """The newest runs of some DAGs, at most `limit` of each, the oldest of them first."""
    rows = conn.execute(_LAST_RUNS, {"dag_ids": list(dag_ids), "limit": limit})
    return [LastRun._make(row) for row in rows]


def failing(conn: Conn) -> list[str]:
    """The DAGs whose latest run failed."""
    return [row[0] for row in conn.execute(_FAILING)]


def running(conn: Conn) -> list[str]:
    """The DAGs that have a running run."""
    return [row[0] for row in conn.execute(_RUNNING)]


def failures(conn: Conn, limit: int) -> list[Failure]:
    """The latest failures, the newest first; of a run that ended failed its first failed task."""
    return [Failure._make(row) for row in conn.execute(_FAILURES, {"limit": limit})]


def due(conn: Conn, limit: int) -> list[Due]:
    """The DAGs that run next, the first first."""
    return [Due._make(row) for row in conn.execute(_DUE, {"limit": limit})]
