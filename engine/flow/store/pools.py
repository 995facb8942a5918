"""Pools: reading them with what occupies them, and changing them."""

from __future__ import annotations

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


# What occupies pools, from the unfinished tasks only: indexes task_pool and task_unfinished.
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
used as (
  select p.*, coalesce(a.running, 0) as running, coalesce(a.queued, 0) as queued,
    coalesce(a.scheduled, 0) as scheduled, coalesce(w.deferred, 0) as deferred
  from pool p left join active a on a.pool = p.name left join waiting w on w.pool = p.name)
select name, slots, include_deferred, running::int, queued::int, scheduled::int, deferred::int,
  case when slots >= 0 then greatest(0, slots - running - queued
    - case when include_deferred then deferred else 0 end)::int end, description
from used
where %(name)s::text is null or name = %(name)s
order by name limit %(limit)s
"""

_COUNT = "select count(*) from pool"
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


def one(conn: Conn, name: str) -> Pool | None:
    """A pool and its use."""
    row = conn.execute(_LIST, {"name": name, "limit": 1}).fetchone()
    return Pool._make(row) if row else None


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
