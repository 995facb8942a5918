"""Tries: claimed by a worker, reported by it, or closed by whoever finds that it was lost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from flow.decide import Ending
from flow.store import arrays
from flow.store.connect import Conn, Row
from flow.store.text import storable_or_none


class Claim(NamedTuple):
    """One hand-over of a task: counts only as long as it is the current one."""

    run_key: int
    task_id: str
    map_path: tuple[int, ...]
    number: int


class Claimed(NamedTuple):
    """A task that a worker holds, with what its process and its supervisor have to know.

    Durations in seconds. `file` is the path of the DAG file on the host that parsed it.
    """

    run_key: int
    task_id: str
    map_path: tuple[int, ...]
    claim: int
    try_number: int
    max_tries: int
    losses: int
    retry_delay: float
    retry_backoff: float
    max_retry_delay: float | None
    execution_timeout: float | None
    executor: str
    queue: str
    dag_id: str
    run_id: str
    run_type: str
    version: int
    logical_date: datetime
    data_interval_start: datetime
    data_interval_end: datetime
    run_after: datetime
    started_at: datetime | None
    conf: str
    file: str

    @property
    def key(self) -> Claim:
        """What every write for this task names."""
        return Claim(self.run_key, self.task_id, self.map_path, self.claim)


class Open(NamedTuple):
    """An open try of a process that is gone, with what deciding about it needs."""

    run_key: int
    task_id: str
    map_path: tuple[int, ...]
    claim: int
    try_number: int
    max_tries: int
    losses: int
    retry_delay: float
    retry_backoff: float
    max_retry_delay: float | None
    dag_id: str
    executor: str
    queue: str

    @property
    def key(self) -> Claim:
        """What every write for this task names."""
        return Claim(self.run_key, self.task_id, self.map_path, self.claim)


class Report(NamedTuple):
    """The end of a try, for the store: who says it, and what was decided."""

    claim: Claim
    ending: Ending
    pid: int | None = None
    log: str | None = None


# In admission order, passing over what other workers are taking; index task_queue, of each queue no
# more than the limit: with `queue = any(…)` every queued task was read and sorted for each claim.
# Places in different queues say nothing of each other, so tasks of one priority are taken by how
# far they stand from the head of their own queue.
# Opens the try in the same statement, so a try that has a number and a start has a row. Locks the
# tasks it takes, and for a moment as many of each further queue it serves.
_CLAIM = """
with picked as materialized (
  select q.run_key, q.task_id, q.map_path
  from unnest(%(queues)s::text[]) as served(queue),
    lateral (select run_key, task_id, map_path, priority, rank from task_hot t
      where t.state = 'queued' and t.executor = %(executor)s and t.queue = served.queue
      order by t.priority desc, t.rank, t.run_key, t.task_id limit %(limit)s
      for update skip locked) as q
  order by q.priority desc, q.rank - min(q.rank) over (partition by served.queue, q.priority),
    q.run_key, q.task_id limit %(limit)s),
claimed as (
  update task_hot t set state = 'running', claim = t.claim + 1, worker = %(worker)s,
    started_at = clock_timestamp(), reason = null
  from picked p
  where t.run_key = p.run_key and t.task_id = p.task_id and t.map_path = p.map_path
    and t.state = 'queued'
  returning t.*),
opened as (
  insert into try_hot (run_key, task_id, map_path, try_number, claim, state, started_at, worker,
    host, executor, queue)
  select run_key, task_id, map_path, try_number, claim, 'running', started_at, worker, %(host)s,
    executor, queue
  from claimed
  on conflict (run_key, task_id, map_path, try_number)
    do update set claim = excluded.claim, worker = excluded.worker, host = excluded.host,
      state = 'running')
select c.run_key, c.task_id, c.map_path, c.claim, c.try_number, c.max_tries, c.losses,
  c.retry_delay, c.retry_backoff, c.max_retry_delay, c.execution_timeout, c.executor, c.queue,
  c.dag_id, r.run_id, r.run_type, r.version, r.logical_date, r.data_interval_start,
  r.data_interval_end, r.run_after, r.started_at, r.conf, d.file
from claimed c join run r on r.run_key = c.run_key join dag d on d.dag_id = c.dag_id
order by c.priority desc, c.rank, c.run_key, c.task_id
"""

_STARTED = """
update try_hot y set pid = s.pid, log = s.log
from unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(map_path)s::text[], %(claim)s::int[],
    %(pid)s::int[], %(log)s::text[]) as s(run_key, task_id, map_path, claim, pid, log)
where y.run_key = s.run_key and y.task_id = s.task_id and y.map_path = s.map_path::int[]
  and y.claim = s.claim and y.ended_at is null
"""

# Everything that follows from ended tries, for those whose claim still counts: the task's state,
# the closed try, the return value, the wake-ups of the run and of a pool with a size. Rows are
# locked in order of key, so two reports and an operator's mark cannot wait for each other.
# A task that was cleared meanwhile was only waiting for this process to be dead: whatever it says
# of itself, its try is closed as restarted and the task is open to be decided anew.
_REPORT = """
with said as materialized (
  select run_key, task_id, map_path::int[] as map_path, claim, state, try_state, reason, delay,
    again, pid, log, exit_code, signal, peak_rss, cpu_time, code_hash, skips, value
  from unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(map_path)s::text[], %(claim)s::int[],
    %(state)s::text[], %(try_state)s::text[], %(reason)s::text[], %(delay)s::float8[],
    %(again)s::bool[], %(pid)s::int[], %(log)s::text[], %(exit_code)s::int[],
    %(signal)s::int[], %(peak_rss)s::bigint[], %(cpu_time)s::float8[], %(code_hash)s::text[],
    %(skips)s::text[], %(value)s::text[])
  as s(run_key, task_id, map_path, claim, state, try_state, reason, delay, again, pid, log,
    exit_code, signal, peak_rss, cpu_time, code_hash, skips, value)),
current as materialized (
  select s.run_key, s.task_id, s.map_path, s.claim, s.pid, s.log, s.exit_code, s.signal,
    s.peak_rss, s.cpu_time, s.code_hash, t.try_number, t.pool, t.state = 'restarting' as cleared,
    case t.state when 'running' then s.state else 'none' end as state,
    case t.state when 'running' then s.try_state else 'restarted' end as try_state,
    case t.state when 'running' then s.reason else t.reason end as reason,
    case t.state when 'running' then s.delay end as delay,
    case t.state when 'running' then s.skips end as skips,
    case t.state when 'running' then s.value end as value,
    s.again and t.state = 'running' as again
  from task_hot t join said s
    on t.run_key = s.run_key and t.task_id = s.task_id and t.map_path = s.map_path
  where t.claim = s.claim and t.state in ('running', 'restarting')
  order by t.run_key, t.task_id, t.map_path for no key update of t),
ended as (
  update task_hot t set state = c.state, worker = null, reason = c.reason,
    try_number = t.try_number + c.again::int,
    max_tries = t.max_tries + c.again::int,
    losses = case when c.again then t.losses + 1 else 0 end,
    due_at = clock_timestamp() + make_interval(secs => c.delay),
    scheduled_at = case when c.again then clock_timestamp() else t.scheduled_at end,
    queued_at = case when c.again or c.cleared then null else t.queued_at end,
    started_at = case when c.cleared then null else t.started_at end,
    ended_at = case when c.again or c.cleared then null else clock_timestamp() end,
    rank = case when c.again then t.turn else t.rank end, keeps_slot = false,
    skips = string_to_array(c.skips, ',')
  from current c
  where t.run_key = c.run_key and t.task_id = c.task_id and t.map_path = c.map_path),
closed as (
  update try_hot y set state = c.try_state, ended_at = clock_timestamp(), reason = c.reason,
    pid = coalesce(c.pid, y.pid), log = coalesce(c.log, y.log),
    exit_code = c.exit_code, signal = c.signal, peak_rss = c.peak_rss, cpu_time = c.cpu_time,
    code_hash = c.code_hash
  from current c
  where y.run_key = c.run_key and y.task_id = c.task_id and y.map_path = c.map_path
    and y.try_number = c.try_number),
stored as (
  insert into xcom_hot (run_key, task_id, map_path, try_number, key, value)
  select run_key, task_id, map_path, try_number, 'return_value', value from current
  where value is not null
  on conflict (run_key, task_id, map_path, try_number, key) do update set value = excluded.value),
woken as (
  insert into wakeup (kind, run_key, task_id, name)
  select 'run', run_key, task_id, null from current
  union all
  select distinct 'pool', null::bigint, null, p.name from current c join pool p on p.name = c.pool
  where p.slots >= 0)
select run_key, task_id, map_path, claim from current where not cleared
"""

# Tries that a process left open; index try_open. Locks the tasks in order of key.
_LEFT_OPEN = """
select t.run_key, t.task_id, t.map_path, t.claim, t.try_number, t.max_tries, t.losses,
  t.retry_delay, t.retry_backoff, t.max_retry_delay, t.dag_id, t.executor, t.queue
from try_hot y join task_hot t
  on t.run_key = y.run_key and t.task_id = y.task_id and t.map_path = y.map_path
    and t.try_number = y.try_number
where y.worker = %(worker)s and y.ended_at is null
  and t.worker = %(worker)s and t.state in ('running', 'restarting')
order by t.run_key, t.task_id, t.map_path for no key update of t
"""

# What a worker holds, as far as the store knows; index try_open. No locks.
_HELD = """
select t.run_key, t.task_id, t.map_path, t.claim, t.state = 'restarting'
from try_hot y join task_hot t
  on t.run_key = y.run_key and t.task_id = y.task_id and t.map_path = y.map_path
    and t.try_number = y.try_number and t.claim = y.claim
where y.worker = %(worker)s and y.ended_at is null
  and t.worker = %(worker)s and t.state in ('running', 'restarting')
"""


def claim(
    conn: Conn, *, worker: int, host: str, executor: str, queues: Sequence[str], limit: int
) -> list[Claimed]:
    """Take up to `limit` queued tasks for a worker and open their tries."""
    rows = conn.execute(
        _CLAIM,
        {
            "worker": worker,
            "host": host,
            "executor": executor,
            "queues": list(queues),
            "limit": limit,
        },
    )
    return [Claimed._make((*row[:2], tuple(row[2]), *row[3:])) for row in rows]


def started(conn: Conn, tries: Sequence[tuple[Claim, int, str]]) -> None:
    """Note process id and log of tries that have a process now: (claim, pid, log) each."""
    if tries:
        claims = [one for one, _, _ in tries]
        conn.execute(
            _STARTED,
            {
                **keys(claims),
                "pid": [pid for _, pid, _ in tries],
                "log": [log for _, _, log in tries],
            },
        )


def report(conn: Conn, reports: Sequence[Report]) -> set[Claim]:
    """Write how tries ended; returns the claims whose end counted.

    Of a task that was cleared only the death counts; the others changed nothing.
    """
    if not reports:
        return set()
    ends = [one.ending for one in reports]
    rows = conn.execute(
        _REPORT,
        {
            **keys([one.claim for one in reports]),
            "state": [end.state.value for end in ends],
            "try_state": [end.try_state.value for end in ends],
            "reason": [storable_or_none(end.reason) for end in ends],
            "delay": [end.delay for end in ends],
            "again": [end.again for end in ends],
            "exit_code": [end.exit_code for end in ends],
            "signal": [end.signal for end in ends],
            "peak_rss": [end.peak_rss for end in ends],
            "cpu_time": [end.cpu_time for end in ends],
            "code_hash": [end.code_hash for end in ends],
            "skips": [",".join(end.skips) or None for end in ends],
            "value": [end.value for end in ends],
            "pid": [one.pid for one in reports],
            "log": [one.log for one in reports],
        },
    )
    return {_claim(row) for row in rows}


def left_open(conn: Conn, worker: int) -> list[Open]:
    """Tries that a process left open, their tasks locked."""
    rows = conn.execute(_LEFT_OPEN, {"worker": worker})
    return [Open._make((*row[:2], tuple(row[2]), *row[3:])) for row in rows]


def held(conn: Conn, worker: int) -> dict[Claim, bool]:
    """The claims of a worker that count: not marked, reported or taken from it.

    True: the task was cleared, and waits for its process to be dead.
    """
    return {_claim(row[:4]): row[4] for row in conn.execute(_HELD, {"worker": worker})}


def _claim(row: Row) -> Claim:
    run_key, task_id, map_path, number = row
    return Claim(run_key, task_id, tuple(map_path), number)


def keys(claims: Sequence[Claim]) -> dict[str, list[int] | list[str]]:
    """Claims as the arrays that a statement unnests: run_key, task_id, map_path, claim."""
    return {
        "run_key": [one.run_key for one in claims],
        "task_id": [one.task_id for one in claims],
        "map_path": [arrays.path(one.map_path) for one in claims],
        "claim": [one.number for one in claims],
    }
