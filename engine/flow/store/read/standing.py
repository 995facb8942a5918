"""What stands in the way of tasks and runs: their rows, and how limits and queues stand."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.decide.unmade import InBackfill
from flow.store.connect import Conn
from flow.store.read.page import number

Value = int | str | list[int]


class TaskNow(NamedTuple):
    """A task instance with what explains it; the try is its last one. `worker` is host:pid."""

    task_id: str
    map_path: list[int]
    state: str
    reason: str | None
    reason_code: str | None
    due_at: datetime | None
    skips: list[str] | None
    held: bool
    try_number: int
    max_tries: int
    pool: str
    pool_slots: int
    keeps_slot: bool
    queue: str
    executor: str
    priority: int
    rank: int
    turn: int
    run_limit: int | None
    dag_limit: int | None
    queued_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    worker: str | None
    try_reason: str | None
    exit_code: int | None
    signal: int | None


class Workers(NamedTuple):
    """The live workers of a queue, their slots, and how many tasks they run."""

    workers: int
    slots: int
    used: int


class Callback(NamedTuple):
    """A callback that has not run; the run's own has no task id. `served`: a live worker may."""

    task_id: str | None
    map_path: list[int]
    try_number: int
    kind: str
    executor: str
    queue: str
    given_up: str | None
    created_at: datetime
    served: bool


class OfDag(NamedTuple):
    """The unfinished runs of a DAG that are in no backfill, and what is said of its file."""

    running: int
    unfinished: int
    schedulers: int
    pause_reason: str | None
    file: str
    error: str | None
    error_since: datetime | None
    oldest: str | None
    """Of its running runs the one that has run longest, and since when."""
    oldest_since: datetime | None


# Rows of one run and the last try of each; primary key prefixes.
_TASKS = """
select t.task_id, t.map_path, t.state, t.reason, t.reason_code, t.due_at, t.skips, t.held,
  t.try_number, t.max_tries, t.pool, t.pool_slots, t.keeps_slot, t.queue, t.executor, t.priority,
  t.rank, t.turn, t.run_limit, t.dag_limit, t.queued_at, t.started_at, t.ended_at,
  p.host || ':' || p.pid, y.reason, y.exit_code, y.signal
from task t left join process p on p.process_id = t.worker
left join try y on y.run_key = %(run_key)s and y.task_id = t.task_id and y.map_path = t.map_path
  and y.try_number = t.try_number
where t.run_key = %(run_key)s order by t.task_id, t.map_path
"""

# Index task_pool; in the order of admission. What still has its slots needs none, and what needs
# more than there are never goes.
_AHEAD_IN_POOL = """
select count(*) from task_hot t join run r on r.run_key = t.run_key
where t.pool = %(pool)s and t.state = 'scheduled' and not t.held and not t.keeps_slot
  and t.pool_slots <= %(size)s and r.state = 'running' and not r.paused
  and (-t.priority, t.turn, t.run_key, t.task_id, t.map_path) < (-%(priority)s::int,
    %(turn)s::bigint, %(run_key)s::bigint, %(task_id)s::text, %(map_path)s::int[])
"""

# Index task_queue.
_AHEAD_IN_QUEUE = """
select count(*) from task_hot
where executor = %(executor)s and queue = %(queue)s and state = 'queued'
  and (-priority, rank, run_key, task_id) < (-%(priority)s::int, %(rank)s::bigint,
    %(run_key)s::bigint, %(task_id)s::text)
"""

# Indexes process_alive and try_open.
_WORKERS = """
select count(*), coalesce(sum(slots), 0),
  coalesce(sum((select count(*) from try_hot y where y.worker = p.process_id
    and y.ended_at is null)), 0)
from process p
where role = 'work' and ended_at is null and not draining
  and executor = %(executor)s and %(queue)s = any(queues)
"""

# Indexes run_unfinished and process_alive.
_OF_DAG = """
select (select count(*) from run where dag_id = d.dag_id and state = 'running'
    and backfill_id is null),
  (select count(*) from run where dag_id = d.dag_id and state in ('queued', 'running')
    and backfill_id is null),
  (select count(*) from process where role = 'schedule' and ended_at is null),
  d.pause_reason, d.file, f.error, f.error_since, o.run_id, o.started_at
from dag d left join dag_file f on f.path = d.file
left join lateral (
  select run_id, started_at from run where dag_id = d.dag_id and state = 'running'
    and backfill_id is null order by started_at, run_key limit 1) o on true
where d.dag_id = %(dag_id)s
"""

# Index run_unfinished; in the order in which they start.
_RUNS_AHEAD = """
select count(*) from run q join run r on r.run_key = %(run_key)s
where q.dag_id = r.dag_id and q.state = 'queued' and not q.paused and q.backfill_id is null
  and (q.logical_date, q.run_key) < (r.logical_date, r.run_key)
"""

# Few, in all; index process_alive.
_CALLBACKS = """
select c.task_id, c.map_path, c.try_number, c.kind, c.executor, c.queue, c.given_up, c.created_at,
  c.worker is not null or exists (select from process p where p.role = 'work'
    and p.ended_at is null and not p.draining and p.executor = c.executor
    and c.queue = any(p.queues))
from callback c where c.run_key = %(run_key)s order by c.callback_id
"""

# Index backfill_of_interval; then the primary key, in which intervals stand in their order.
_IN_BACKFILL = """
select b.backfill_id, b.state = 'paused',
  (select count(*) from run r where r.backfill_id = b.backfill_id and r.state = 'running'),
  b.max_active_runs,
  (select count(*) from backfill_interval o left join run r on r.run_key = o.run_key
    where o.backfill_id = i.backfill_id and o.ordinal < i.ordinal and o.action <> 'skip'
      and (o.run_key is null or r.state = 'queued'))
from backfill_interval i join backfill b on b.backfill_id = i.backfill_id
left join run own on own.run_key = i.run_key
where i.active and i.dag_id = %(dag_id)s and i.data_interval_start = %(start)s
  and i.action <> 'skip' and b.state <> 'cancelled'
  and (i.run_key is null or own.state = 'queued')
"""

_CONCURRENCY = "select concurrency from dag where dag_id = %(dag_id)s"
_RUN_NAME = "select dag_id || '/' || run_id from run where run_key = %(run_key)s"


def tasks(conn: Conn, run_key: int) -> list[TaskNow]:
    """Every task instance of a run that has a row."""
    return [TaskNow._make(row) for row in conn.execute(_TASKS, {"run_key": run_key})]


def callbacks(conn: Conn, run_key: int) -> list[Callback]:
    """The callbacks of a run and its tasks that have not run."""
    return [Callback._make(row) for row in conn.execute(_CALLBACKS, {"run_key": run_key})]


def concurrency(conn: Conn, dag_id: str) -> int | None:
    """How many tasks of a DAG may be active over all its runs; None: no limit."""
    row = conn.execute(_CONCURRENCY, {"dag_id": dag_id}).fetchone()
    return row[0] if row else None


def run_name(conn: Conn, run_key: int) -> str:
    """A run that exists, as reasons refer to it: `dag/run`."""
    row = conn.execute(_RUN_NAME, {"run_key": run_key}).fetchone()
    assert row is not None  # one of its tasks was found in the same snapshot
    return str(row[0])


def ahead_in_pool(conn: Conn, run_key: int, task: TaskNow, size: int) -> int:
    """How many ready tasks of its pool, of so many slots, go before a ready task."""
    return number(conn, _AHEAD_IN_POOL, {**_place(run_key, task), "size": size})


def ahead_in_queue(conn: Conn, run_key: int, task: TaskNow) -> int:
    """How many queued tasks of its queue go before a queued task."""
    return number(conn, _AHEAD_IN_QUEUE, _place(run_key, task))


def workers(conn: Conn, executor: str, queue: str) -> Workers:
    """The workers that serve a queue."""
    row = conn.execute(_WORKERS, {"executor": executor, "queue": queue}).fetchone()
    assert row is not None  # an aggregate has one row
    return Workers(*(int(number) for number in row))


def of_dag(conn: Conn, dag_id: str) -> OfDag:
    """How a DAG stands that exists."""
    row = conn.execute(_OF_DAG, {"dag_id": dag_id}).fetchone()
    assert row is not None  # the caller has found it
    return OfDag._make(row)


def runs_ahead(conn: Conn, run_key: int) -> int:
    """How many queued runs of its DAG start before a queued run."""
    return number(conn, _RUNS_AHEAD, {"run_key": run_key})


def in_backfill(conn: Conn, dag_id: str, start: datetime) -> InBackfill | None:
    """The backfill in which the interval that starts then has not had its turn, or its run not."""
    row = conn.execute(_IN_BACKFILL, {"dag_id": dag_id, "start": start}).fetchone()
    return InBackfill._make(row) if row else None


def _place(run_key: int, task: TaskNow) -> dict[str, Value]:
    return {
        "run_key": run_key,
        "task_id": task.task_id,
        "pool": task.pool,
        "queue": task.queue,
        "executor": task.executor,
        "priority": task.priority,
        "rank": task.rank,
        "turn": task.turn,
        "map_path": task.map_path,
    }
