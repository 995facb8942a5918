"""What stands in the way of tasks and runs: their rows, and how limits and queues stand."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.store.connect import Conn


class TaskNow(NamedTuple):
    """A task instance with what explains it; the try is its last one. `worker` is host:pid."""

    task_id: str
    map_path: list[int]
    state: str
    reason: str | None
    due_at: datetime | None
    skips: list[str] | None
    held: bool
    try_number: int
    max_tries: int
    pool: str
    pool_slots: int
    queue: str
    executor: str
    priority: int
    rank: int
    queued_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    worker: str | None
    try_started_at: datetime | None
    try_worker: str | None
    try_reason: str | None
    exit_code: int | None
    signal: int | None


class Holder(NamedTuple):
    """The task that has held slots of a pool for longest."""

    dag_id: str
    run_id: str
    task_id: str
    since: datetime


class Workers(NamedTuple):
    """The live workers of a queue, their slots, and how many tasks they run."""

    workers: int
    slots: int
    used: int


class OfDag(NamedTuple):
    """The runs of a DAG that have not ended, and what is said of its file."""

    running: int
    unfinished: int
    schedulers: int
    concurrency: int | None
    pause_reason: str | None
    file: str
    error: str | None
    error_since: datetime | None


# Rows of one run and the last try of each; primary key prefixes.
_TASKS = """
select t.task_id, t.map_path, t.state, t.reason, t.due_at, t.skips, t.held, t.try_number,
  t.max_tries, t.pool, t.pool_slots, t.queue, t.executor, t.priority, t.rank, t.queued_at,
  t.started_at, t.ended_at, p.host || ':' || p.pid, y.started_at, y.host, y.reason, y.exit_code,
  y.signal
from task t left join process p on p.process_id = t.worker
left join try y on y.run_key = %(run_key)s and y.task_id = t.task_id and y.map_path = t.map_path
  and y.try_number = t.try_number
where t.run_key = %(run_key)s order by t.task_id, t.map_path
"""

# Index task_pool, all four.
_POOL_SIZE = "select slots from pool where name = %(pool)s and slots >= 0"
_POOL_USE = """
select coalesce(sum(pool_slots), 0) from task_hot
where pool = %(pool)s and state in ('queued', 'running', 'restarting')
"""
_HOLDER = """
select r.dag_id, r.run_id, t.task_id, coalesce(t.started_at, t.queued_at)
from task_hot t join run r on r.run_key = t.run_key
where t.pool = %(pool)s and t.state in ('queued', 'running', 'restarting')
order by coalesce(t.started_at, t.queued_at) limit 1
"""
_AHEAD_IN_POOL = """
select count(*) from task_hot
where pool = %(pool)s and state = 'scheduled' and not held
  and (-priority, rank, run_key, task_id) < (-%(priority)s::int, %(rank)s::bigint,
    %(run_key)s::bigint, %(task_id)s::text)
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
select (select count(*) from run where dag_id = d.dag_id and state = 'running'),
  (select count(*) from run where dag_id = d.dag_id and state in ('queued', 'running')),
  (select count(*) from process where role = 'schedule' and ended_at is null),
  d.concurrency, d.pause_reason, d.file, f.error, f.error_since
from dag d left join dag_file f on f.path = d.file
where d.dag_id = %(dag_id)s
"""

# Index run_unfinished; in the order in which they start.
_RUNS_AHEAD = """
select count(*) from run q join run r on r.run_key = %(run_key)s
where q.dag_id = r.dag_id and q.state = 'queued' and not q.paused
  and (q.logical_date, q.run_key) < (r.logical_date, r.run_key)
"""


def tasks(conn: Conn, run_key: int) -> list[TaskNow]:
    """Every task instance of a run that has a row."""
    return [TaskNow._make(row) for row in conn.execute(_TASKS, {"run_key": run_key})]


def pool_size(conn: Conn, pool: str) -> int | None:
    """The slots of a pool; None where it is unlimited."""
    row = conn.execute(_POOL_SIZE, {"pool": pool}).fetchone()
    return row[0] if row else None


def pool_use(conn: Conn, pool: str) -> int:
    """How many slots of a pool are in use."""
    return _number(conn, _POOL_USE, {"pool": pool})


def holder(conn: Conn, pool: str) -> Holder | None:
    """Who has held slots of a pool for longest."""
    row = conn.execute(_HOLDER, {"pool": pool}).fetchone()
    return Holder._make(row) if row else None


def ahead_in_pool(conn: Conn, run_key: int, task: TaskNow) -> int:
    """How many ready tasks of its pool go before a ready task."""
    return _number(conn, _AHEAD_IN_POOL, _place(run_key, task))


def ahead_in_queue(conn: Conn, run_key: int, task: TaskNow) -> int:
    """How many queued tasks of its queue go before a queued task."""
    return _number(conn, _AHEAD_IN_QUEUE, _place(run_key, task))


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
    return _number(conn, _RUNS_AHEAD, {"run_key": run_key})


def _place(run_key: int, task: TaskNow) -> dict[str, int | str]:
    return {
        "run_key": run_key,
        "task_id": task.task_id,
        "pool": task.pool,
        "queue": task.queue,
        "executor": task.executor,
        "priority": task.priority,
        "rank": task.rank,
    }


def _number(conn: Conn, statement: str, values: dict[str, int | str]) -> int:
    row = conn.execute(statement, values).fetchone()
    return int(row[0]) if row else 0
