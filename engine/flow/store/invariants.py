"""What always holds (flow-internals(7)), as statements that return whatever breaks it.

All of them are to be read in one snapshot: a task that a worker finishes between two statements
would look like a fault. Statements over finished runs look at runs made since a given time.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from flow.store.connect import Conn
from flow.store.ready import STRANDED


class Invariant(NamedTuple):
    """A number, a sentence, and the statement that returns (subject, detail) of each breach."""

    number: int
    sentence: str
    statement: str


class Breach(NamedTuple):
    """Something that should not be."""

    invariant: int
    sentence: str
    subject: str
    detail: str


LIMIT: Final = 100
"""Breaches of one invariant that are returned."""

_RUN = "r.dag_id || '/' || r.run_id"
_TASK = f"""{_RUN} || '/' || t.task_id
  || case when t.map_path = '{{}}' then '' else t.map_path::text end"""

# Running runs with neither a wake-up nor a task that somebody owns; index run_unfinished, one probe
# of task_unfinished each. A scheduled task counts as owned: it is in the admission index; whether
# somebody is going to look at it there is a question of its own. A run that waits for its past is
# owned by the previous run, unless nothing there can be in its way: one that succeeded may have a
# task that did not, or lack one that another version has. A wake-up at the time limit of a run, the
# only one of a whole run that is due late, owns nothing.
FORGOTTEN_RUNS: Final = """
select r.run_key from run r
where r.state = 'running' and not r.paused
  and not exists (select from task_hot t where t.dag_id = r.dag_id and t.run_key = r.run_key
    and t.state in ('scheduled', 'queued', 'running', 'restarting', 'deferred', 'awaiting_input'))
  and not exists (select from wakeup w where w.run_key = r.run_key
    and (w.task_id is not null or w.due_at < clock_timestamp() + interval '1 second'))
  and not exists (select from run p where p.run_key = r.past_key
    and (p.state <> 'success' or p.version <> r.version
      or exists (select from task_history h where h.run_key = p.run_key
        and h.state not in ('success', 'skipped'))))
"""

# DAGs with a queued run, room for it, and no wake-up; and those with a backfill that has room and
# something to start, or nothing left and no end. Indexes run_unfinished, backfill_active,
# run_of_backfill, backfill_open.
FORGOTTEN_DAGS: Final = """
select d.dag_id from dag d
where not exists (select from wakeup w where w.kind = 'dag' and w.name = d.dag_id)
  and (not d.paused
    and exists (select from run r where r.dag_id = d.dag_id and r.state = 'queued' and not r.paused
      and r.backfill_id is null)
    and (select count(*) from run r where r.dag_id = d.dag_id and r.state = 'running'
      and r.backfill_id is null) < d.max_active_runs
  or exists (
    select from backfill b, lateral (
      select count(*) filter (where r.state = 'running') as running,
        count(*) filter (where r.state = 'queued' and not r.paused) as queued,
        count(*) as unfinished
      from run r where r.backfill_id = b.backfill_id and r.state in ('queued', 'running')) as r,
    lateral (
      select b.state <> 'cancelled' and exists (select from backfill_interval i
        where i.backfill_id = b.backfill_id and i.action <> 'skip' and i.run_key is null)
        as is_there) as rest
    where b.dag_id = d.dag_id and b.ended_at is null and (
      r.unfinished = 0 and not rest.is_there
      or b.state <> 'paused' and r.running < b.max_active_runs
        and (r.queued > 0 or rest.is_there and d.present))))
"""

_RUNS_OWNED = f"""
select {_RUN}, 'running, without a wake-up and without a task that anybody owns'
from run r where r.run_key in ({FORGOTTEN_RUNS})
union all
select {_RUN}, 'is in a backfill that has ended: nobody starts it'
from run r where r.backfill_id is not null and r.state = 'queued'
  and not exists (select from backfill b where b.backfill_id = r.backfill_id and b.ended_at is null)
union all
select dag_id, 'has a run or a backfill to go on with, room for it, and no wake-up'
from ({FORGOTTEN_DAGS}) as d
union all
select {_RUN} || '/' || s.task_id, 'is ready and has room, and no wake-up'
from ({STRANDED}) as s join run r on r.run_key = s.run_key
limit {LIMIT}
"""

_RUNNING_TRIES = f"""
select {_TASK}, 'is ' || t.state || ' on process ' || coalesce(t.worker::text, 'none') || ' with '
  || (select count(*) from try_hot y where y.run_key = t.run_key and y.task_id = t.task_id
    and y.map_path = t.map_path and y.state = 'running' and y.worker = t.worker
    and y.try_number = t.try_number) || ' running tries that fit it'
from task_hot t join run r on r.run_key = t.run_key
where t.state in ('running', 'restarting') and t.state in
    ('scheduled', 'queued', 'running', 'restarting')
  and not (t.state = 'restarting' and exists (select from stopping s where s.run_key = t.run_key
    and s.task_id = t.task_id and s.map_path = t.map_path and s.worker = t.worker))
  and (t.worker is null or 1 <> (select count(*) from try_hot y where y.run_key = t.run_key
    and y.task_id = t.task_id and y.map_path = t.map_path and y.state = 'running'
    and y.worker = t.worker and y.try_number = t.try_number))
union all
select {_TASK}, 'is ' || t.state || ' on process ' || t.worker || ', which has ended'
from process p join task_hot t on t.worker = p.process_id join run r on r.run_key = t.run_key
where p.ended_at is not null and t.state in ('running', 'restarting')
union all
select {_TASK}, 'has a running try ' || y.try_number || ' but is ' || t.state
from try_hot y join run r on r.run_key = y.run_key
join task_hot t on t.run_key = y.run_key and t.task_id = y.task_id and t.map_path = y.map_path
where y.ended_at is null and y.state = 'running' and t.state not in ('running', 'restarting')
limit {LIMIT}
"""

_ONE_OPEN_TRY = f"""
select {_TASK}, 'has open tries ' || string_agg(y.try_number::text, ', ' order by y.try_number)
  || ' and is at try ' || t.try_number
from try_hot y join run r on r.run_key = y.run_key
join task_hot t on t.run_key = y.run_key and t.task_id = y.task_id and t.map_path = y.map_path
where y.ended_at is null
group by r.dag_id, r.run_id, t.task_id, t.map_path, t.try_number
having count(*) > 1 or min(y.try_number) <> t.try_number
limit {LIMIT}
"""

# That numbers only grow shows in a snapshot as: no try is ahead of its task.
_NUMBERS_GROW = f"""
select {_TASK}, 'is at try ' || t.try_number || ', claim ' || t.claim
  || ', behind its own tries: try ' || max(y.try_number) || ', claim ' || max(y.claim)
from task_hot t join run r on r.run_key = t.run_key
join try_hot y on y.run_key = t.run_key and y.task_id = t.task_id and y.map_path = t.map_path
group by r.dag_id, r.run_id, t.task_id, t.map_path, t.try_number, t.claim
having max(y.try_number) > t.try_number or max(y.claim) > t.claim
limit {LIMIT}
"""

_PLACES = " union all ".join(
    f"""select coalesce({_RUN}, 'run ' || t.run_key), '{kind} rows are hot, though the run is '
  || coalesce(r.state, 'not there')
from (select distinct run_key from {kind}_hot) as t left join run r on r.run_key = t.run_key
where r.run_key is null or r.state in ('success', 'failed')
union all
select {_RUN}, '{kind} rows are in history, though the run is ' || r.state
from run r where r.state in ('queued', 'running')
  and exists (select from {kind}_history t where t.run_key = r.run_key)"""
    for kind in ("task", "try", "xcom", "event")
)
_RIGHT_PLACE = f"{_PLACES} limit {LIMIT}"

_ROW_PER_TASK = f"""
with recent as materialized (
  select run_key, dag_id, run_id, version from run
  where run_key >= coalesce(run_key_floor(%(since)s::timestamptz), 0)
    and state in ('success', 'failed') and not archived),
wanted as materialized (
  select v.dag_id, v.number, task ->> 'task_id' as task_id
  from (select distinct dag_id, version from recent) as used
  join dag_version v on v.dag_id = used.dag_id and v.number = used.version
  join spec s on s.hash = v.spec_hash,
  jsonb_array_elements(coalesce(s.body::jsonb -> 'tasks', '[]')) as task)
select {_RUN} || '/' || w.task_id, 'has no row, though the run has ended'
from recent r join wanted w on w.dag_id = r.dag_id and w.number = r.version
where not exists (select from task_history t
  where t.run_key = r.run_key and t.task_id = w.task_id)
limit {LIMIT}
"""

# A pool may be fuller than its size only through being shrunk: then nothing was admitted since.
_POOLS_HOLD = f"""
select p.name, sum(t.pool_slots) || ' slots are taken of ' || p.slots
from pool p join (
  select pool, pool_slots, queued_at from task_hot
  where state in ('queued', 'running', 'restarting')
  union all
  select pool, pool_slots, queued_at from task_hot
  where keeps_slot and state not in ('queued', 'running', 'restarting')) as t on t.pool = p.name
where p.slots >= 0
group by p.name, p.slots
having sum(t.pool_slots) > p.slots and max(t.queued_at) > coalesce(
  (select max(a.at) from audit a where a.verb = 'pools.set' and a.target = p.name), '-infinity')
limit {LIMIT}
"""

_ONE_RUN_PER_INTERVAL = f"""
select r.dag_id || ' ' || r.data_interval_start,
  'has runs ' || string_agg(r.run_id, ', ' order by r.run_id)
from run r
where r.interval_run and r.run_key >= coalesce(run_key_floor(%(since)s::timestamptz), 0)
group by r.dag_id, r.data_interval_start having count(*) > 1
limit {LIMIT}
"""

INVARIANTS: Final = (
    Invariant(1, "every unfinished run has a wake-up or a task that somebody owns", _RUNS_OWNED),
    Invariant(2, "a task that runs names a live worker and has one open try", _RUNNING_TRIES),
    Invariant(3, "a task has at most one open try, of its own number", _ONE_OPEN_TRY),
    Invariant(4, "numbers of tries and claims only grow", _NUMBERS_GROW),
    Invariant(5, "rows of finished runs are in history, the others hot", _RIGHT_PLACE),
    Invariant(6, "a finished run has a row for each of its tasks", _ROW_PER_TASK),
    Invariant(7, "a pool holds no more than its size", _POOLS_HOLD),
    Invariant(8, "a DAG has at most one run for an interval", _ONE_RUN_PER_INTERVAL),
)


def forgotten_runs(conn: Conn) -> list[int]:
    """Running runs that nobody would ever look at again."""
    return [row[0] for row in conn.execute(FORGOTTEN_RUNS)]


def forgotten_dags(conn: Conn) -> list[str]:
    """DAGs with a queued run and room for it that nobody would ever look at again."""
    return [row[0] for row in conn.execute(FORGOTTEN_DAGS)]


def breaches(conn: Conn, since: datetime | None = None) -> list[Breach]:
    """Everything that breaks an invariant, at most `LIMIT` of each.

    Finished runs are looked at when they were made after `since`; None: all of them.
    """
    return [
        Breach(invariant.number, invariant.sentence, subject, detail)
        for invariant in INVARIANTS
        for subject, detail in conn.execute(invariant.statement, {"since": since})
    ]


def ensure_partitions(conn: Conn) -> None:
    """Make the history partitions of this month and the next two."""
    conn.execute("select ensure_partitions(2)")
