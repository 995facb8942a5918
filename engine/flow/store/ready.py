"""Tasks that could start now, as far as anything but their pool is concerned.

The sweep looks at them: those that have waited too long are raised, those that nothing would ever
wake are counted as faults. Both read every unfinished task once, so this is not for every pass.
"""

from __future__ import annotations

from typing import NamedTuple

from flow.graph.spec import HIGHEST_PRIORITY as HIGHEST
from flow.store.connect import Conn

# Scheduled tasks that are served and have room in their run, in their DAG and for themselves.
_READY = """
active as materialized (
  select dag_id, run_key, task_id, pool, pool_slots from task_hot
  where state in ('queued', 'running', 'restarting')),
served as materialized (
  select distinct executor, queue from process, unnest(queues) as queue
  where role = 'work' and ended_at is null and not draining),
in_run as materialized (select run_key, count(*) as active from active group by run_key),
in_dag as materialized (select dag_id, count(*) as active from active group by dag_id),
of_task as materialized (
  select dag_id, task_id, run_key, count(*) as in_run,
    sum(count(*)) over (partition by dag_id, task_id) as in_dag
  from active group by dag_id, task_id, run_key),
used as materialized (
  select pool, sum(pool_slots) as slots from (
    select pool, pool_slots from active
    union all
    select pool, pool_slots from task_hot
    where keeps_slot and state not in ('queued', 'running', 'restarting')) as taken
  group by pool),
ready as materialized (
  select t.run_key, t.task_id, t.map_path, t.dag_id, t.pool, t.queue, t.scheduled_at, t.priority,
    t.turn, case when t.keeps_slot then 0 else t.pool_slots end as slots, p.slots as size,
    p.slots - coalesce(u.slots, 0) as free,
    d.concurrency is not null or t.dag_limit is not null as limited_dag
  from task_hot t
  join run r on r.run_key = t.run_key and r.state = 'running' and not r.paused
  join dag d on d.dag_id = t.dag_id
  join dag_version v on v.dag_id = r.dag_id and v.number = r.version
  join pool p on p.name = t.pool
  join served s on s.executor = t.executor and s.queue = t.queue
  left join used u on u.pool = t.pool
  left join in_run on in_run.run_key = t.run_key
  left join in_dag on in_dag.dag_id = t.dag_id
  where t.state = 'scheduled' and not t.held
    and (v.max_active_tasks is null or coalesce(in_run.active, 0) < v.max_active_tasks)
    and (d.concurrency is null or coalesce(in_dag.active, 0) < d.concurrency)
    and (t.run_limit is null or not exists (select from of_task o where o.run_key = t.run_key
      and o.task_id = t.task_id and o.in_run >= t.run_limit))
    and (t.dag_limit is null or not exists (select from of_task o where o.dag_id = t.dag_id
      and o.task_id = t.task_id and o.in_dag >= t.dag_limit)))"""

# Ready tasks with a place in their pool, about which no wake-up would ever make anybody think: none
# of their run, DAG, pool or queue; where a limit of the DAG holds over its runs, none of another of
# these either, for who decides that one wakes the DAG. A pool that is kept for a raised task admits
# nothing else.
STRANDED = f"""
with {_READY}
select y.run_key, y.dag_id, y.task_id, y.pool, y.size < 0 from ready y
where (y.size < 0 or y.slots <= y.free)
  and not exists (select from ready k where k.pool = y.pool and k.turn < 0 and k.slots > k.free
    and k.slots <= k.size)
  and not exists (select from wakeup w where w.run_key = y.run_key)
  and not exists (select from wakeup w where w.run_key is null and (w.kind, w.name)
    in (('dag', y.dag_id), ('pool', y.pool), ('queue', y.queue)))
  and not (y.limited_dag and exists (select from wakeup w join run o on o.run_key = w.run_key
    where o.dag_id = y.dag_id and o.state = 'running'
      and w.due_at < clock_timestamp() + interval '1 second'))
order by y.run_key, y.task_id, y.map_path
"""

# Those of a pool with a size that have waited longest stand before all others from now on: so many
# that a quarter of its slots may be theirs at any time, and at least one. More would make the order
# of an overloaded pool that of arrival, whatever priorities say.
_RAISE_READY = f"""
with {_READY},
raised as (
  update task_hot t set priority = {HIGHEST}, turn = c.turn, rank = c.turn
  from (
    select o.run_key, o.task_id, o.map_path,
      (extract(epoch from o.scheduled_at) * 1000)::bigint - 1e15::bigint as turn
    from (
      select y.*, row_number() over (partition by y.pool order by y.scheduled_at, y.run_key,
          y.task_id, y.map_path) as place,
        greatest(1, y.size / 4) - (select count(*) from ready k
          where k.pool = y.pool and k.turn < 0) as places
      from ready y
      where y.size > 0 and y.slots <= y.size and y.turn >= 0
        and y.scheduled_at < clock_timestamp() - make_interval(secs => %(after)s::float8)) as o
    where o.place <= o.places) as c
  where t.run_key = c.run_key and t.task_id = c.task_id and t.map_path = c.map_path
    and t.state = 'scheduled'
  returning t.pool),
woken as (insert into wakeup (kind, name) select distinct 'pool', pool from raised)
select count(*) from raised
"""

# The same for queued tasks, which wait for a worker; a quarter of the slots of their queue's live
# workers. Index task_queue. Rows that a worker is taking are passed over.
_RAISE_QUEUED = f"""
with late as materialized (
  select t.run_key, t.task_id, t.map_path, t.executor, t.queue, t.queued_at, t.rank
  from task_hot t where t.state = 'queued'
    and t.queued_at < clock_timestamp() - make_interval(secs => %(after)s::float8)),
workers as materialized (
  select executor, queue, sum(slots) as slots from process, unnest(queues) as queue
  where role = 'work' and ended_at is null and not draining group by executor, queue),
chosen as (
  select o.run_key, o.task_id, o.map_path, o.queued_at
  from (
    select l.*, row_number() over (partition by l.executor, l.queue order by l.queued_at, l.run_key,
        l.task_id, l.map_path) as place,
      greatest(1, w.slots / 4) - (select count(*) from task_hot k where k.state = 'queued'
        and k.executor = l.executor and k.queue = l.queue and k.priority = {HIGHEST}
        and k.rank < 0) as places
    from late l join workers w on w.executor = l.executor and w.queue = l.queue
    where l.rank >= 0) as o
  where o.place <= o.places),
raised as (
  update task_hot t set priority = {HIGHEST},
    rank = (extract(epoch from c.queued_at) * 1000)::bigint - 1e15::bigint
  from (select h.run_key, h.task_id, h.map_path, c.queued_at
    from chosen c join task_hot h on h.run_key = c.run_key and h.task_id = c.task_id
      and h.map_path = c.map_path
    where h.state = 'queued' order by h.run_key, h.task_id, h.map_path
    for no key update of h skip locked) as c
  where t.run_key = c.run_key and t.task_id = c.task_id and t.map_path = c.map_path
  returning 1)
select count(*) from raised
"""


class Stranded(NamedTuple):
    """A ready task that has room and that nothing would wake."""

    run_key: int
    dag_id: str
    task_id: str
    pool: str
    unlimited: bool


def stranded(conn: Conn) -> list[Stranded]:
    """Ready tasks whose admission was lost."""
    return [Stranded._make(row) for row in conn.execute(STRANDED)]


def raise_late(conn: Conn, after: float) -> int:
    """Put tasks that have waited for longer than `after` seconds before others; how many."""
    count = 0
    for statement in (_RAISE_READY, _RAISE_QUEUED):
        row = conn.execute(statement, {"after": after}).fetchone()
        count += row[0] if row else 0
    return count
