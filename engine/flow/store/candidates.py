"""Ready tasks in the order in which they may go, and their step to the queue and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from flow.decide import Candidate
from flow.store import arrays
from flow.store.connect import Conn, Row
from flow.store.gates import Gates
from flow.store.places import PLACES, Waiting, place

Kind = Literal["pool", "dag", "queue"]
Scope = Literal["pool", "kept", "dag", "queue"]


class Ready(NamedTuple):
    """A ready task with what its admission needs beyond what decides about it."""

    task: Candidate
    priority: int
    turn: int
    stride: int
    backfill: bool
    max_active_tasks: int | None
    """Limit of its run, where that can bind."""


After = tuple[int, int, int, str, list[int]]
"""A place in the order: priority, turn, run_key, task_id, map_path."""


class Page(NamedTuple):
    """Ready tasks in order, and the place after the last of them; None: there are no more."""

    ready: list[Ready]
    after: After | None


_COLUMNS = """t.run_key, t.task_id, t.map_path, t.dag_id, t.pool,
  case when t.keeps_slot then 0 else t.pool_slots end, t.queue, t.executor, t.run_limit,
  t.dag_limit, t.turn < 0, t.priority, t.turn, t.stride"""
_IN_CANDIDATE = len(Candidate._fields)

# The best ready tasks of some runs that a live worker serves and that only the run's own limit can
# keep waiting; index task_unfinished gives each run's in order. What cannot go takes no place of
# what can.
_READY_IN_RUNS = f"""
select f.* from unnest(%(run_keys)s::bigint[], %(dag_ids)s::text[], %(limits)s::int[])
    as k(run_key, dag_id, room),
  lateral (select {_COLUMNS} from task_hot t where t.dag_id = k.dag_id and t.run_key = k.run_key
    and t.state = 'scheduled' and not t.held and t.pool = any(%(unlimited)s::text[])
    and t.run_limit is null and t.dag_limit is null
    and t.executor || ' ' || t.queue = any(%(served)s::text[])
    order by t.priority desc, t.rank, t.task_id limit k.room) as f
order by f.priority desc, f.turn, f.run_key, f.task_id
"""

# Which of some pools ready tasks of some runs wait for; index task_unfinished.
_POOLS_WAITED_FOR = """
select distinct k.pool
from unnest(%(run_keys)s::bigint[], %(dag_ids)s::text[], %(pools)s::text[])
  as k(run_key, dag_id, pool)
where exists (select from task_hot t where t.dag_id = k.dag_id and t.run_key = k.run_key
  and t.state = 'scheduled' and not t.held and t.pool = k.pool)
"""

# Pools with a size that ready tasks of a DAG (index task_unfinished) or of a queue wait for. What
# waits for the same pool is looked at together, in the pool's order, or it would be let in past
# others.
_POOLS_OF = {
    kind: f"""
select p.name from pool p where p.slots >= 0 and exists (select from task_hot t
  where t.pool = p.name and t.{kind} = %(name)s and t.state = 'scheduled' and not t.held)
"""
    for kind in ("dag_id", "queue")
}

# Ready tasks of a scope, in order; index task_pool for pools, task_keeping for those of a pool that
# never gave their slots back, task_unfinished for a DAG. With the run's side of it, which is null
# where nothing of the run may start now.
_SCOPES = {
    "pool": "t.pool = %(name)s",
    "kept": "t.pool = %(name)s and t.keeps_slot",
    "dag": "t.dag_id = %(name)s and t.pool = any(%(unlimited)s::text[])",
    "queue": "t.queue = %(name)s and t.pool = any(%(unlimited)s::text[])",
}
_SOME = """(select * from task_hot t
  where t.state = 'scheduled' and not t.held and {scope} and {place}
  order by t.priority desc, t.turn, t.run_key, t.task_id, t.map_path limit %(limit)s)"""
_FIRST = _SOME.replace("{place}", "true")
# What follows a place: the rest of its priority and then the lower ones, each from where it begins
# in the index, which one comparison over both could not find.
_NEXT = " union all ".join(
    _SOME.replace("{place}", place)
    for place in (
        "t.priority = %(priority)s and (t.turn, t.run_key, t.task_id, t.map_path) > "
        "(%(turn)s::bigint, %(run_key)s::bigint, %(task_id)s::text, %(path)s::int[])",
        "t.priority < %(priority)s",
    )
)
_PAGE = f"""
select {_COLUMNS}, r.backfill_id is not null, v.max_active_tasks, r.run_key is not null
from (select * from ({{some}}) as t
    order by t.priority desc, t.turn, t.run_key, t.task_id, t.map_path limit %(limit)s) as t
  left join run r on r.run_key = t.run_key and r.state = 'running' and not r.paused
  left join dag_version v on v.dag_id = r.dag_id and v.number = r.version
order by t.priority desc, t.turn, t.run_key, t.task_id, t.map_path
"""
_READY = {
    (scope, first): _PAGE.replace("{some}", some.replace("{scope}", condition))
    for scope, condition in _SCOPES.items()
    for first, some in ((True, _FIRST), (False, _NEXT))
}

# The step itself.
_QUEUE = f"""
select queue_tasks(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[],
  %(flow)s::int[], %(behind)s::bigint[], {PLACES})
"""

# Queued tasks whose queue lost its last live worker go back to where they were.
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
  set state = 'scheduled', queued_at = null, rank = turn, reason = 'no live worker serves queue',
    reason_code = null
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
  select distinct 'dag', null::bigint, dag_id from returned)
select count(*) from returned
"""


def ready_in_runs(conn: Conn, runs: Sequence[tuple[int, str, int]], state: Gates) -> list[Ready]:
    """The best ready tasks of runs (run_key, dag_id, room) that no shared limit has to judge."""
    if not runs:
        return []
    run_keys, dag_ids, limits = zip(*runs, strict=True)
    rows = conn.execute(
        _READY_IN_RUNS,
        {
            "run_keys": list(run_keys),
            "dag_ids": list(dag_ids),
            "limits": list(limits),
            "unlimited": list(state.unlimited),
            "served": [f"{executor} {queue}" for executor, queue in state.served],
        },
    )
    return [_ready(row) for row in rows]


def pools_waited_for(conn: Conn, places: Sequence[tuple[int, str, str]]) -> set[str]:
    """The pools among (run_key, dag_id, pool) that a ready task of the run waits for."""
    if not places:
        return set()
    run_keys, dag_ids, pools = zip(*places, strict=True)
    values = {"run_keys": list(run_keys), "dag_ids": list(dag_ids), "pools": list(pools)}
    return {row[0] for row in conn.execute(_POOLS_WAITED_FOR, values)}


def pools_of(conn: Conn, kind: Kind, name: str) -> list[str]:
    """The pools with a size that ready tasks of a DAG or a queue wait for."""
    column = "dag_id" if kind == "dag" else "queue"
    return [row[0] for row in conn.execute(_POOLS_OF[column], {"name": name})]


def ready(
    conn: Conn,
    scope: Scope,
    name: str,
    state: Gates,
    *,
    after: After | None = None,
    limit: int,
) -> Page:
    """One page of ready tasks of a pool, or of those of a DAG or queue whose pools have no size.

    `kept` are the tasks of a pool that still have their slots. Tasks of runs that are paused or do
    not run are left out.
    """
    priority, turn, run_key, task_id, path = after or (None, None, None, None, None)
    rows = conn.execute(
        _READY[scope, after is None],
        {
            "name": name,
            "unlimited": list(state.unlimited),
            "priority": priority,
            "turn": turn,
            "run_key": run_key,
            "task_id": task_id,
            "path": path,
            "limit": limit,
        },
    ).fetchall()
    last = _ready(rows[-1]) if len(rows) == limit else None
    place = last and (
        last.priority, last.turn, last.task.run_key, last.task.task_id, list(last.task.map_path)
    )  # fmt: skip
    return Page([_ready(row) for row in rows if row[-1]], place)


def _ready(row: Row) -> Ready:
    run_key, task_id, path, *more = row[:_IN_CANDIDATE]
    priority, turn, stride, *of_run = row[_IN_CANDIDATE:]
    backfill, limit = of_run[:2] if of_run else (False, None)
    task = Candidate(run_key, task_id, tuple(path), *more)
    return Ready(task, priority, turn, stride, bool(backfill), limit)


def queue(conn: Conn, admitted: Sequence[Ready]) -> int:
    """Write admitted tasks as queued; how many were still waiting for it."""
    if not admitted:
        return 0
    placed = place(
        Waiting(one.task.dag_id, None, one.task.executor, one.task.queue, one.priority, one.stride,
                one.backfill)
        for one in admitted
    )  # fmt: skip
    row = conn.execute(
        _QUEUE,
        {
            **placed.parameters,
            "run_keys": arrays.numbers([one.task.run_key for one in admitted]),
            "task_ids": arrays.texts([one.task.task_id for one in admitted]),
            "paths": arrays.paths([one.task.map_path for one in admitted]),
            "flow": arrays.numbers(placed.flow),
            "behind": arrays.numbers(placed.offset),
        },
    ).fetchone()
    return int(row[0]) if row else 0


def unqueue(conn: Conn) -> int:
    """Put queued tasks that no live worker serves back to scheduled; how many there were."""
    row = conn.execute(_UNQUEUE).fetchone()
    return int(row[0]) if row else 0
