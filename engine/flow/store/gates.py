"""What limits admission: live workers, pools, and what occupies them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from psycopg import Cursor

from flow.decide import Candidate
from flow.store import arrays
from flow.store.connect import Conn, Row


class Gates(NamedTuple):
    """The state of the gates at one moment of database time."""

    now: datetime
    served: frozenset[tuple[str, str]]
    """(executor, queue) pairs that a live worker serves."""
    limited: frozenset[str]
    """Pools that have a size; all others are unlimited."""


# Three answers in one: time, served queues, limited pools. Locks nothing.
READ = "select now, served, limited from open_gates()"

# Active tasks of some runs; index task_unfinished. Exact under the runs' locks.
_ACTIVE_IN_RUNS = """
select k.run_key, (select count(*) from task_hot t where t.dag_id = k.dag_id
    and t.run_key = k.run_key and t.state in ('queued', 'running', 'restarting'))
from unnest(%(run_keys)s::bigint[], %(dag_ids)s::text[]) as k(run_key, dag_id)
"""

# Active tasks of some DAGs over all their runs; index task_unfinished. Exact under the DAGs' locks.
_ACTIVE_IN_DAGS = """
select dag_id, count(*) from task_hot
where dag_id = any(%(dag_ids)s::text[]) and state in ('queued', 'running', 'restarting')
group by dag_id
"""

# The best ready tasks of some runs that a live worker serves and whose pool has no size; index
# task_unfinished gives each run's in order. What cannot go takes no place of what can.
_READY_IN_RUNS = """
select f.run_key, f.task_id, f.map_path, f.dag_id, f.pool, f.pool_slots, f.queue, f.executor
from unnest(%(run_keys)s::bigint[], %(dag_ids)s::text[], %(limits)s::int[])
    as k(run_key, dag_id, room),
  lateral (select * from task_hot t where t.dag_id = k.dag_id and t.run_key = k.run_key
    and t.state = 'scheduled' and not t.held and t.pool <> all(%(limited)s::text[])
    and t.executor || ' ' || t.queue = any(%(served)s::text[])
    order by t.priority desc, t.rank, t.task_id limit k.room) as f
order by f.priority desc, f.rank, f.run_key, f.task_id
"""

# Which of some pools ready tasks of some runs wait for; index task_unfinished.
_POOLS_WAITED_FOR = """
select distinct k.pool
from unnest(%(run_keys)s::bigint[], %(dag_ids)s::text[], %(pools)s::text[])
  as k(run_key, dag_id, pool)
where exists (select from task_hot t where t.dag_id = k.dag_id and t.run_key = k.run_key
  and t.state = 'scheduled' and not t.held and t.pool = k.pool)
"""

# A page of ready tasks in admission order, after a given place. `scope` narrows to a pool, a DAG or
# a queue; index task_pool for pools, task_unfinished for DAGs.
_READY = """
select run_key, task_id, map_path, dag_id, pool, pool_slots, queue, executor, priority, rank
from task_hot
where state = 'scheduled' and not held
  and (%(pool)s::text is null or pool = %(pool)s)
  and (%(dag)s::text is null or dag_id = %(dag)s)
  and (%(queue)s::text is null or queue = %(queue)s)
  and (%(after_run)s::bigint is null or (-priority, rank, run_key, task_id, map_path)
    > (-%(after_priority)s::int, %(after_rank)s::bigint, %(after_run)s::bigint,
       %(after_task)s::text, %(after_path)s::int[]))
order by priority desc, rank, run_key, task_id, map_path
limit %(limit)s
"""

# DAGs that have a limit over all their runs, locked in order of id.
_LOCK_DAGS = """
select dag_id, concurrency from dag
where dag_id = any(%(dag_ids)s::text[]) and concurrency is not null
order by dag_id for no key update skip locked
"""

_DAG_LIMITS = """
select dag_id from dag where dag_id = any(%(dag_ids)s::text[]) and concurrency is not null
"""

# Pools with a size, locked in order of name; whoever comes second waits, since this is short. Who
# holds pools already does not wait for more of them: two such could wait for each other.
_LOCK_POOLS = """
select name, slots from pool where name = any(%(names)s::text[]) and slots >= 0
order by name for no key update
"""
_LOCK_MORE_POOLS = f"{_LOCK_POOLS} skip locked"

_SIZED_POOLS = "select name from pool where name = any(%(names)s::text[]) and slots >= 0"

# Slots in use, counted live in a statement after the lock; index task_pool.
_POOL_USE = """
select pool, sum(pool_slots) from task_hot
where pool = any(%(names)s::text[]) and state in ('queued', 'running', 'restarting') group by pool
"""

_QUEUE = """
update task_hot t set state = 'queued', queued_at = clock_timestamp()
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[])
  as k(run_key, task_id, map_path)
where t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = k.map_path::int[]
  and t.state = 'scheduled'
"""

# Queued tasks whose queue lost its last live worker go back: their slot must not stay taken.
#
# The wake-ups stand for what that changes: a place is free in run, DAG and pool, and a worker may
# have registered meanwhile, whose own wake-up was served when the tasks were still queued. Rows are
# locked in order of key; those that an operator or another sweep holds are left to the next sweep.
_UNQUEUE = """
with unserved as materialized (
  select t.run_key, t.task_id, t.map_path from task_hot t
  where t.state = 'queued' and not exists (
    select from process p where p.role = 'work' and p.ended_at is null and not p.draining
      and p.executor = t.executor and t.queue = any(p.queues))
  order by t.run_key, t.task_id, t.map_path for no key update of t skip locked),
returned as (
  update task_hot t
  set state = 'scheduled', queued_at = null, reason = 'no live worker serves queue'
  from unserved u
  where t.run_key = u.run_key and t.task_id = u.task_id and t.map_path = u.map_path
  returning t.run_key, t.dag_id, t.pool, t.queue),
woken as (
  insert into wakeup (kind, run_key, name)
  select distinct 'run', run_key, null from returned
  union all
  select distinct 'queue', null::bigint, queue from returned
  union all
  select distinct 'pool', null::bigint, p.name from returned r join pool p on p.name = r.pool
  where p.slots >= 0
  union all
  select distinct 'dag', null::bigint, d.dag_id from returned r join dag d on d.dag_id = r.dag_id
  where d.concurrency is not null)
select count(*) from returned
"""


def read(conn: Conn) -> Gates:
    """Time, served queues and limited pools."""
    return found(conn.execute(READ))


def found(answer: Cursor[Row]) -> Gates:
    """What `READ` has answered."""
    row = answer.fetchone()
    assert row is not None  # the function returns one row
    now, served, limited = row
    pairs = frozenset(
        (executor, queue) for executor, _, queue in (s.partition(" ") for s in served)
    )
    return Gates(now, pairs, frozenset(limited))


def active_in_runs(conn: Conn, runs: Iterable[tuple[int, str]]) -> dict[int, int]:
    """Active tasks by run, for (run_key, dag_id) pairs."""
    run_keys, dag_ids = zip(*runs, strict=True)
    rows = conn.execute(_ACTIVE_IN_RUNS, {"run_keys": list(run_keys), "dag_ids": list(dag_ids)})
    return dict(rows.fetchall())


def active_in_dags(conn: Conn, dag_ids: Sequence[str]) -> dict[str, int]:
    """Active tasks by DAG; a DAG without any is absent."""
    return dict(conn.execute(_ACTIVE_IN_DAGS, {"dag_ids": list(dag_ids)}).fetchall())


def ready_in_runs(
    conn: Conn, runs: Sequence[tuple[int, str, int]], state: Gates
) -> list[Candidate]:
    """The best ready tasks of runs (run_key, dag_id, room) that no pool's size has to judge."""
    if not runs:
        return []
    run_keys, dag_ids, limits = zip(*runs, strict=True)
    rows = conn.execute(
        _READY_IN_RUNS,
        {
            "run_keys": list(run_keys),
            "dag_ids": list(dag_ids),
            "limits": list(limits),
            "limited": list(state.limited),
            "served": [f"{executor} {queue}" for executor, queue in state.served],
        },
    )
    return [_candidate(row) for row in rows]


def pools_waited_for(conn: Conn, places: Sequence[tuple[int, str, str]]) -> set[str]:
    """The pools among (run_key, dag_id, pool) that a ready task of the run waits for."""
    if not places:
        return set()
    run_keys, dag_ids, pools = zip(*places, strict=True)
    values = {"run_keys": list(run_keys), "dag_ids": list(dag_ids), "pools": list(pools)}
    return {row[0] for row in conn.execute(_POOLS_WAITED_FOR, values)}


class Page(NamedTuple):
    """Ready tasks in order, and the place after the last of them."""

    candidates: list[Candidate]
    after: tuple[int, int, int, str, list[int]] | None


def ready(
    conn: Conn,
    *,
    pool: str | None = None,
    dag: str | None = None,
    queue: str | None = None,
    after: tuple[int, int, int, str, list[int]] | None = None,
    limit: int,
) -> Page:
    """One page of ready tasks of a pool, DAG or queue, in admission order."""
    priority, rank, run_key, task_id, path = after or (None, None, None, None, None)
    rows = conn.execute(
        _READY,
        {
            "pool": pool,
            "dag": dag,
            "queue": queue,
            "after_priority": priority,
            "after_rank": rank,
            "after_run": run_key,
            "after_task": task_id,
            "after_path": path,
            "limit": limit,
        },
    ).fetchall()
    last = rows[-1] if len(rows) == limit else None
    place = (last[8], last[9], last[0], last[1], last[2]) if last else None
    return Page([_candidate(row[:8]) for row in rows], place)


def _candidate(row: Row) -> Candidate:
    run_key, task_id, path, dag_id, pool, slots, queue, executor = row
    return Candidate(run_key, task_id, tuple(path), dag_id, pool, slots, queue, executor)


def lock_dags(conn: Conn, dag_ids: Sequence[str]) -> tuple[dict[str, int], set[str]]:
    """Lock DAGs with a limit over all runs: their limits, and those that somebody else holds."""
    locked: dict[str, int] = dict(conn.execute(_LOCK_DAGS, {"dag_ids": list(dag_ids)}).fetchall())
    limited = {row[0] for row in conn.execute(_DAG_LIMITS, {"dag_ids": list(dag_ids)})}
    return locked, limited - locked.keys()


def lock_pools(conn: Conn, names: Sequence[str], *, more: bool) -> tuple[dict[str, int], set[str]]:
    """Lock pools that have a size: slots by name, and those that somebody else holds.

    `more`: this transaction holds pools already, so it passes over what it would have to wait for.
    """
    values = {"names": list(names)}
    statement = _LOCK_MORE_POOLS if more else _LOCK_POOLS
    locked: dict[str, int] = dict(conn.execute(statement, values).fetchall())
    sized = {row[0] for row in conn.execute(_SIZED_POOLS, values)} if more else locked.keys()
    return locked, sized - locked.keys()


def pool_use(conn: Conn, names: Sequence[str]) -> dict[str, int]:
    """Slots in use by pool; a pool without any is absent."""
    return dict(conn.execute(_POOL_USE, {"names": list(names)}).fetchall())


def queue(conn: Conn, admitted: Sequence[Candidate]) -> int:
    """Write admitted tasks as queued; how many were still waiting for it."""
    if not admitted:
        return 0
    return conn.execute(
        _QUEUE,
        {
            "run_keys": [one.run_key for one in admitted],
            "task_ids": [one.task_id for one in admitted],
            "paths": [arrays.path(one.map_path) for one in admitted],
        },
    ).rowcount


def unqueue(conn: Conn) -> int:
    """Put queued tasks that no live worker serves back to scheduled; how many there were."""
    row = conn.execute(_UNQUEUE).fetchone()
    return int(row[0]) if row else 0
