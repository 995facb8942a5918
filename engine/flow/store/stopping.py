"""Processes that no longer count and are not known to be dead.

Marking a running task, or cancelling its run, takes it from its worker at once, and the worker then
stops the process, which may take its grace. A row here stands for that time, so that a clear does
not let the next try start beside the old process.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from flow.store import instances
from flow.store.connect import Conn
from flow.store.instances import Key
from flow.store.tries import Claim, keys

# Before the claims grow. Where a process is being stopped already, that is the one.
_ADD = """
insert into stopping (run_key, task_id, map_path, claim, worker)
select t.run_key, t.task_id, t.map_path, t.claim, t.worker
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[])
  as k(run_key, task_id, map_path)
join task_hot t on t.run_key = k.run_key and t.task_id = k.task_id
  and t.map_path = k.map_path::int[]
where t.state in ('running', 'restarting') and not exists (select from stopping s
  where s.run_key = t.run_key and s.task_id = t.task_id and s.map_path = t.map_path)
"""

# Of workers that have not ended: what a dead one had is dead too.
_OF_RUNS = """
select s.run_key, s.task_id, s.map_path, s.worker from stopping s
join process p on p.process_id = s.worker and p.ended_at is null
where s.run_key = any(%(run_keys)s::bigint[])
"""

# A few rows, each with a probe of its run and of its worker.
_OF_DAG = """
select s.task_id from stopping s
join process p on p.process_id = s.worker and p.ended_at is null
join run r on r.run_key = s.run_key
where r.dag_id = %(dag_id)s limit 1
"""

# Index stopping_worker.
_OF_WORKER = "select run_key, task_id, map_path, claim from stopping where worker = %(worker)s"

# Who clears holds the run and reads these rows: one that goes now, he must not have seen.
_LOCK_RUNS = """
select from run where run_key = any(%(run_keys)s::bigint[])
order by run_key for no key update
"""

_GONE = """
delete from stopping s
using unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(map_path)s::text[], %(claim)s::int[])
  as g(run_key, task_id, map_path, claim)
where s.run_key = g.run_key and s.task_id = g.task_id and s.map_path = g.map_path::int[]
  and s.claim = g.claim
returning s.run_key, s.task_id, s.map_path, s.claim
"""

# Tasks that were cleared while such a process lived.
_RELEASE = """
with cleared as materialized (
  select t.run_key, t.task_id, t.map_path from task_hot t
  join unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(map_path)s::text[], %(claim)s::int[])
    as g(run_key, task_id, map_path, claim)
    on t.run_key = g.run_key and t.task_id = g.task_id and t.map_path = g.map_path::int[]
  where t.state = 'restarting'
  order by t.run_key, t.task_id, t.map_path for no key update of t),
released as (
  update task_hot t set state = 'none', worker = null
  from cleared c
  where t.run_key = c.run_key and t.task_id = c.task_id and t.map_path = c.map_path
  returning t.run_key, t.task_id, t.pool)
insert into wakeup (kind, run_key, task_id, name)
select 'run', run_key, task_id, null from released
union all
select distinct 'pool', null::bigint, null, p.name from released r join pool p on p.name = r.pool
where p.slots >= 0
"""


def add(conn: Conn, tasks: Sequence[Key]) -> None:
    """Note the processes of those of `tasks` that run, before their claims grow."""
    if tasks:
        conn.execute(_ADD, instances.keys(tasks))


def of_runs(conn: Conn, run_keys: Sequence[int]) -> dict[Key, int]:
    """Instances of some runs with a process that is being stopped, and the worker that has it.

    Holds as long as the caller holds the runs.
    """
    rows = conn.execute(_OF_RUNS, {"run_keys": list(run_keys)})
    return {(run_key, task_id, tuple(path)): worker for run_key, task_id, path, worker in rows}


def of_dag(conn: Conn, dag_id: str) -> str | None:
    """A task of a DAG with a process that is being stopped."""
    row = conn.execute(_OF_DAG, {"dag_id": dag_id}).fetchone()
    return row[0] if row else None


def of_worker(conn: Conn, worker: int) -> set[Claim]:
    """The claims whose processes a worker is to have stopped."""
    rows = conn.execute(_OF_WORKER, {"worker": worker})
    return {Claim(run_key, task_id, tuple(path), claim) for run_key, task_id, path, claim in rows}


def gone(conn: Conn, claims: Collection[Claim]) -> bool:
    """Processes are dead: what was cleared meanwhile may go. Whether any of them was noted.

    Waits for whoever holds their runs, so the caller must not hold tasks.
    """
    if not claims:
        return False
    conn.execute(_LOCK_RUNS, {"run_keys": sorted({claim.run_key for claim in claims})})
    rows = conn.execute(_GONE, keys(sorted(claims))).fetchall()
    if rows:
        dead = [
            Claim(run_key, task_id, tuple(path), claim) for run_key, task_id, path, claim in rows
        ]
        conn.execute(_RELEASE, keys(dead))
    return bool(rows)
