"""Pools: reading them with what occupies them, and changing them."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.store.connect import Conn


class Pool(NamedTuple):
    """A pool and its use, all in slots. -1 slots are unlimited, and then `open` is null."""

    name: str
    slots: int
    include_deferred: bool
    running: int
    queued: int
    scheduled: int
    deferred: int
    open: int | None
    description: str


class Holder(NamedTuple):
    """What tasks of one DAG hold of a pool, and the one of them that has held it longest."""

    dag_id: str
    tasks: int
    slots: int
    since: datetime
    oldest: str
    """run_id/task_id"""


class Waiter(NamedTuple):
    """Ready tasks of one DAG that wait for slots of a pool."""

    dag_id: str
    tasks: int
    slots: int
    most_slots: int
    """Of one task."""
    priority: int
    """The highest."""
    since: datetime


class Misfit(NamedTuple):
    """A DAG that names a pool which does not exist (`size` is null) or is too small for a task."""

    dag_id: str
    file: str
    pool: str
    slots: int
    size: int | None


# What occupies pools, from the unfinished tasks only: indexes task_pool, task_keeping and
# task_unfinished.
_LIST = """
with active as (
  select pool,
    sum(pool_slots) filter (where state in ('running', 'restarting')) as running,
    sum(pool_slots) filter (where state = 'queued') as queued,
    sum(pool_slots) filter (where state = 'scheduled') as scheduled
  from task_hot where state in ('scheduled', 'queued', 'running', 'restarting') group by pool),
waiting as (
  select pool, sum(pool_slots) as deferred
  from task_hot where state = 'deferred' and state not in
    ('success', 'failed', 'skipped', 'upstream_failed', 'removed', 'none') group by pool),
kept as (
  select pool, sum(pool_slots) as slots from task_hot
  where keeps_slot and state not in ('queued', 'running', 'restarting') group by pool),
used as (
  select p.*, coalesce(a.running, 0) as running, coalesce(a.queued, 0) as queued,
    coalesce(a.scheduled, 0) as scheduled, coalesce(w.deferred, 0) as deferred,
    coalesce(k.slots, 0) as kept
  from pool p left join active a on a.pool = p.name left join waiting w on w.pool = p.name
    left join kept k on k.pool = p.name)
select name, slots, include_deferred, running::int, queued::int, scheduled::int, deferred::int,
  case when slots >= 0 then greatest(0, slots - running - queued - kept)::int end, description
from used
where %(name)s::text is null or name = %(name)s
order by name limit %(limit)s
"""

# Indexes task_pool and task_keeping. The run of the oldest one is looked up for what is shown only.
_HOLDERS = """
select h.dag_id, h.tasks, h.slots, h.since,
  (select r.run_id from run r where r.run_key = h.run_key) || '/' || h.task_id
from (
  select dag_id, count(*) as tasks, sum(pool_slots) as slots, min(since) as since,
    (array_agg(run_key order by since, run_key, task_id))[1] as run_key,
    (array_agg(task_id order by since, run_key, task_id))[1] as task_id
  from (
    select dag_id, run_key, task_id, pool_slots, coalesce(queued_at, scheduled_at) as since
    from task_hot
    where pool = %(name)s and state in ('queued', 'running', 'restarting')
    union all
    select dag_id, run_key, task_id, pool_slots, coalesce(queued_at, scheduled_at) from task_hot
    where pool = %(name)s and keeps_slot and state not in ('queued', 'running', 'restarting')) as t
  group by dag_id order by min(since), dag_id limit %(limit)s) as h
order by h.since, h.dag_id
"""

# Index task_pool. Those that still have their slots do not wait for any.
_WAITERS = """
select dag_id, count(*), sum(pool_slots), max(pool_slots), max(priority), min(scheduled_at)
from task_hot where pool = %(name)s and state = 'scheduled' and not held and not keeps_slot
group by dag_id order by max(priority) desc, min(scheduled_at), dag_id limit %(limit)s
"""

# The pools of the latest version of each DAG, against those that there are.
_MISFITS = """
select d.dag_id, d.file, w.pool, w.slots::int, p.slots
from dag d join dag_version v on v.dag_id = d.dag_id and v.number = d.version,
  jsonb_each_text(v.pools) as w(pool, slots)
left join pool p on p.name = w.pool
where d.present and (%(file)s::text is null or d.file = %(file)s)
  and (p.name is null or p.slots between 0 and w.slots::int - 1)
order by d.dag_id, w.pool
"""

_COUNT = "select count(*) from pool"
_NAMES = "select name from pool order by name"
_LOCK = "select slots, include_deferred, description from pool where name = %(name)s for update"

_SET = """
insert into pool (name, slots, include_deferred, description)
values (%(name)s, %(slots)s, %(include_deferred)s, %(description)s)
on conflict (name) do update set slots = excluded.slots,
  include_deferred = excluded.include_deferred, description = excluded.description
"""

_DELETE = "delete from pool where name = %(name)s"


class Definition(NamedTuple):
    """What somebody set a pool to."""

    slots: int
    include_deferred: bool
    description: str


def page(conn: Conn, limit: int | None) -> tuple[list[Pool], int]:
    """Pools in order of name, and how many there are."""
    rows = conn.execute(_LIST, {"name": None, "limit": limit})
    pools = [Pool._make(row) for row in rows]
    found = conn.execute(_COUNT).fetchone()
    return pools, found[0] if found else 0


def names(conn: Conn) -> list[str]:
    """The names of all pools."""
    return [row[0] for row in conn.execute(_NAMES)]


def one(conn: Conn, name: str) -> Pool | None:
    """A pool and its use."""
    row = conn.execute(_LIST, {"name": name, "limit": 1}).fetchone()
    return Pool._make(row) if row else None


def holders(conn: Conn, name: str, limit: int | None) -> list[Holder]:
    """Who holds slots of a pool, by DAG, longest first."""
    rows = conn.execute(_HOLDERS, {"name": name, "limit": limit})
    return [Holder._make(row) for row in rows]


def waiters(conn: Conn, name: str, limit: int | None) -> list[Waiter]:
    """Who waits for slots of a pool, by DAG, highest priority first. The pool need not exist."""
    rows = conn.execute(_WAITERS, {"name": name, "limit": limit})
    return [Waiter._make(row) for row in rows]


def misfits(conn: Conn, file: str | None = None) -> list[Misfit]:
    """DAGs, of all files or of one, with a pool that does not exist or can never be enough."""
    return [Misfit._make(row) for row in conn.execute(_MISFITS, {"file": file})]


def lock(conn: Conn, name: str) -> Definition | None:
    """What a pool is set to; its row is locked."""
    row = conn.execute(_LOCK, {"name": name}).fetchone()
    return Definition._make(row) if row else None


def set_(conn: Conn, name: str, definition: Definition) -> None:
    """Make a pool, or change it."""
    conn.execute(_SET, {"name": name, **definition._asdict()})


def delete(conn: Conn, name: str) -> None:
    """Delete a pool."""
    conn.execute(_DELETE, {"name": name})
