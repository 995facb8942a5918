"""What limits admission: live workers, pools, limits of runs, DAGs and tasks, and their use.

Counts are exact in a statement after the lock of what they are about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from psycopg import Cursor

from flow.store import arrays
from flow.store.connect import Conn, Row

# Time, served queues and unlimited pools in one answer. Whoever reads it may queue tasks of
# unlimited pools without looking at the pools again: until the end of its transaction it shares an
# advisory lock, which keeps none of its like waiting. Only `freeze` waits for those that are under
# way, so that a pool that gets a size knows all that is in it. Both come before any lock of rows.
READ: Final = "select now, served, unlimited from open_gates()"

_FREEZE = "select pg_advisory_xact_lock(hashtext('flow.pool_sizes'))"


class Gates(NamedTuple):
    """The state of the gates at one moment of database time."""

    now: datetime
    served: frozenset[tuple[str, str]]
    """(executor, queue) pairs that a live worker serves."""
    unlimited: frozenset[str]
    """Pools without a size. A pool that is not among them has one, or does not exist."""


class Use(NamedTuple):
    """What is in use of a pool."""

    slots: int = 0
    kept: bool = False
    """A ready task has kept its slots."""


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

# Active instances by run of some tasks of DAGs; index task_unfinished. Exact within a run under its
# lock, over all runs under the DAG's.
_ACTIVE_BY_TASK = """
select dag_id, task_id, run_key, count(*) from task_hot
where dag_id = any(%(dag_ids)s::text[]) and state in ('queued', 'running', 'restarting')
  and (dag_id, task_id) in (
    select dag_id, task_id from unnest(%(dag_ids)s::text[], %(task_ids)s::text[])
      as k(dag_id, task_id))
group by dag_id, task_id, run_key
"""

# DAGs with a limit over all runs, or with a task that has one, locked in order of id; one that
# somebody else holds has no row in `locked`. The limit is read under the lock; null: the DAG has
# none itself.
_LOCK_DAGS = """
with limited as materialized (
  select dag_id from dag where dag_id = any(%(dag_ids)s::text[])
    and (concurrency is not null or dag_id = any(%(limiting_tasks)s::text[]))),
locked as materialized (
  select dag_id, concurrency from dag where dag_id = any(array(select dag_id from limited))
  order by dag_id for no key update skip locked)
select l.dag_id, k.dag_id is null, k.concurrency
from limited l left join locked k on k.dag_id = l.dag_id
"""

# Runs in order of key, for their limits, and what is active in them under the lock; one that
# another scheduler holds is passed over. A function of the schema: see there.
_LOCK_RUNS = "select run_key, active from lock_runs(%(run_keys)s::bigint[])"

# Pools with a size, in order of name. Who comes second does not wait: what it has read is being
# admitted by the first.
_LOCK_POOLS = """
select name, slots from pool where name = any(%(names)s::text[]) and slots >= 0
order by name for no key update skip locked
"""

# All pools of those names: one that is not there admits nothing.
_SIZES = "select name, slots from pool where name = any(%(names)s::text[])"

# Slots in use, counted live in a statement after the lock, and whether ready tasks are among what
# has kept theirs; indexes task_pool and task_keeping.
_POOL_USE = """
select pool, sum(slots), bool_or(ready) from (
  select pool, pool_slots as slots, false as ready from task_hot
  where pool = any(%(names)s::text[]) and state in ('queued', 'running', 'restarting')
  union all
  select pool, pool_slots, state = 'scheduled' from task_hot
  where pool = any(%(names)s::text[]) and keeps_slot
    and state not in ('queued', 'running', 'restarting')) as used
group by pool
"""

# Whoever ends or takes back an active task by other means than a report calls this in its
# transaction; its run or its DAG has to be woken too. Pools without a size keep nobody waiting.
_WAKE_FREED = """
insert into wakeup (kind, name)
select 'pool', name from pool where name = any(%(pools)s::text[]) and slots >= 0
"""


def read(conn: Conn) -> Gates:
    """Time, served queues and unlimited pools."""
    return found(conn.execute(READ))


def found(answer: Cursor[Row]) -> Gates:
    """What `READ` has answered."""
    row = answer.fetchone()
    assert row is not None  # the function returns one row
    now, served, unlimited = row
    pairs = frozenset(
        (executor, queue) for executor, _, queue in (s.partition(" ") for s in served)
    )
    return Gates(now, pairs, frozenset(unlimited))


def freeze(conn: Conn) -> None:
    """Wait for the transactions that have read the gates; keep new ones waiting until the commit.

    To be called before any row is locked.
    """
    conn.execute(_FREEZE)


def active_in_runs(conn: Conn, runs: Iterable[tuple[int, str]]) -> dict[int, int]:
    """Active tasks by run, for (run_key, dag_id) pairs."""
    run_keys, dag_ids = zip(*runs, strict=True)
    values = {"run_keys": arrays.numbers(run_keys), "dag_ids": arrays.texts(dag_ids)}
    return dict(conn.execute(_ACTIVE_IN_RUNS, values).fetchall())


def active_in_dags(conn: Conn, dag_ids: Sequence[str]) -> dict[str, int]:
    """Active tasks by DAG; a DAG without any is absent."""
    return dict(conn.execute(_ACTIVE_IN_DAGS, {"dag_ids": arrays.texts(dag_ids)}).fetchall())


def active_by_task(conn: Conn, tasks: Iterable[tuple[str, str]]) -> list[tuple[str, str, int, int]]:
    """(dag_id, task_id, run_key, active instances) of some tasks, given as (dag_id, task_id)."""
    dag_ids, task_ids = zip(*tasks, strict=True)
    rows = conn.execute(_ACTIVE_BY_TASK, {"dag_ids": list(dag_ids), "task_ids": list(task_ids)})
    return [(dag_id, task_id, run_key, count) for dag_id, task_id, run_key, count in rows]


def lock_dags(
    conn: Conn, dag_ids: Sequence[str], limiting_tasks: Sequence[str]
) -> tuple[dict[str, int | None], set[str]]:
    """Lock DAGs with a limit over all runs: their limits, and those that somebody else holds.

    `limiting_tasks` are those of `dag_ids` of which a task has such a limit.
    """
    values = {"dag_ids": arrays.texts(dag_ids), "limiting_tasks": arrays.texts(limiting_tasks)}
    limits: dict[str, int | None] = {}
    held = set()
    for dag_id, elsewhere, limit in conn.execute(_LOCK_DAGS, values):
        if elsewhere:
            held.add(dag_id)
        else:
            limits[dag_id] = limit
    return limits, held


def lock_runs(conn: Conn, run_keys: Sequence[int]) -> dict[int, int]:
    """Lock those of `run_keys` that run, are not paused, and that nobody else holds.

    Returns the active tasks of each.
    """
    return dict(conn.execute(_LOCK_RUNS, {"run_keys": arrays.numbers(run_keys)}).fetchall())


def sizes(conn: Conn, names: Sequence[str]) -> dict[str, int]:
    """Slots by pool, -1 without limit; a pool that does not exist is absent. Locks nothing."""
    return dict(conn.execute(_SIZES, {"names": list(names)}).fetchall())


def lock_pools(conn: Conn, names: Sequence[str]) -> tuple[dict[str, int], set[str]]:
    """Lock pools that have a size: slots by name, and those that somebody else holds.

    One that does not exist has 0 slots.
    """
    locked: dict[str, int] = dict(conn.execute(_LOCK_POOLS, {"names": list(names)}).fetchall())
    others = [name for name in names if name not in locked]
    known = sizes(conn, others) if others else {}
    locked |= {name: 0 for name in others if name not in known}
    return locked, {name for name, slots in known.items() if slots >= 0}


def pool_use(conn: Conn, names: Sequence[str]) -> dict[str, Use]:
    """What is in use, by pool; a pool of which nothing is, is absent."""
    rows = conn.execute(_POOL_USE, {"names": arrays.texts(names)})
    return {name: Use(slots, kept) for name, slots, kept in rows}


def wake_freed(conn: Conn, pools: Iterable[str]) -> None:
    """Wake whoever waits for slots that active tasks gave up in these pools."""
    names = sorted(set(pools))
    if names:
        conn.execute(_WAKE_FREED, {"pools": names})
