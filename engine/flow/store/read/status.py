"""The state of a whole deployment: roles, queue, wake-ups, database."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.store.connect import Conn


class Process(NamedTuple):
    """A process that has not ended, as far as the database knows, with what it does.

    `used` slots have a running try in them.
    """

    role: str
    host: str
    pid: int
    version: str
    started_at: datetime
    heartbeat_age_s: float
    draining: bool
    executor: str | None
    queues: list[str]
    slots: int
    used: int


class Load(NamedTuple):
    """How many tasks run, and how many runs have not ended."""

    running_tasks: int
    running_runs: int
    queued_runs: int


class Queue(NamedTuple):
    """Tasks that wait for a worker, and for how long the oldest of them has."""

    queued: int
    scheduled: int
    oldest_queued_s: float | None


class Wakeups(NamedTuple):
    """Wake-ups that are due, and for how long the oldest of them has been."""

    due: int
    oldest_s: float | None


class Database(NamedTuple):
    """The server's version and what the database takes on its disk."""

    version: str
    size_bytes: int
    oldest_snapshot_s: float | None
    """Age of the oldest open transaction of this database, which keeps dead rows from going."""


class Unserved(NamedTuple):
    """`what`, tasks or callbacks, waits for a queue that no live worker serves."""

    what: str
    executor: str
    queue: str


class Roomless(NamedTuple):
    """A pool that can never take some of the tasks that wait for it.

    One of them needs `most` slots. Without `slots` there is no such pool.
    """

    pool: str
    most: int
    slots: int | None


class Warned(NamedTuple):
    """What living processes on a host cannot do as they were asked to, with what is at `path`."""

    path: str
    host: str
    text: str


class GivenUp(NamedTuple):
    """How many callbacks were given up, and the last one. Without a task id it is the run's."""

    number: int
    dag_id: str
    run_id: str
    task_id: str | None
    kind: str


# Indexes process_alive, and for each process try_open, which holds only what is open.
_PROCESSES = """
select role, host, pid, version, started_at,
  extract(epoch from clock_timestamp() - heartbeat_at)::float8, draining, executor, queues, slots,
  (select count(*) from try_hot y
   where y.worker = p.process_id and y.ended_at is null and y.state = 'running')::int
from process p where ended_at is null order by role, host, pid
"""

# Indexes task_pool and run_unfinished hold only what is unfinished.
_LOAD = """
select (select count(*) from task_hot where state in ('running', 'restarting')),
  count(*) filter (where state = 'running'), count(*) filter (where state = 'queued')
from run where state in ('queued', 'running')
"""

# Indexes task_queue and task_pool hold only what waits or runs.
_QUEUE = """
select (select count(*) from task_hot where state = 'queued'),
  (select count(*) from task_hot where state = 'scheduled'),
  (select extract(epoch from clock_timestamp() - min(queued_at))::float8
   from task_hot where state = 'queued')
"""

_WAKEUPS = """
select count(*), extract(epoch from clock_timestamp() - min(due_at))::float8
from wakeup where due_at <= clock_timestamp()
"""

_DATABASE = """
select current_setting('server_version'), pg_database_size(current_database()),
  (select extract(epoch from clock_timestamp() - min(xact_start))::float8 from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null)
"""

# Indexes task_queue, task_pool and callback_waiting.
_UNSERVED = """
select distinct w.what, w.executor, w.queue from (
  select 'tasks' as what, executor, queue from task_hot where state in ('scheduled', 'queued')
  union all
  select 'callbacks', executor, queue from callback where worker is null and given_up is null) w
where not exists (
  select from process p where p.role = 'work' and p.ended_at is null and not p.draining
    and p.executor = w.executor and w.queue = any(p.queues))
order by w.executor, w.queue, w.what desc
"""

# Index task_pool; pools are few.
_ROOMLESS = """
select t.pool, max(t.pool_slots), p.slots
from task_hot t left join pool p on p.name = t.pool
where t.state = 'scheduled' and (p.name is null or p.slots between 0 and t.pool_slots - 1)
group by t.pool, p.slots order by t.pool
"""

# Index process_alive. Several processors of one host see the same.
_WARNED = """
select distinct w.key, p.host, w.value from process p, jsonb_each_text(p.warnings) w
where p.ended_at is null order by w.key, p.host
"""

_GIVEN_UP = """
select count(*) over (), c.dag_id, r.run_id, c.task_id, c.kind
from callback c join run r on r.run_key = c.run_key
where c.given_up is not null order by c.callback_id desc limit 1
"""


def processes(conn: Conn) -> list[Process]:
    """The processes that have not ended, with what they do."""
    return [Process._make(row) for row in conn.execute(_PROCESSES)]


def load(conn: Conn) -> Load:
    """How much is going on."""
    row = conn.execute(_LOAD).fetchone()
    assert row is not None  # an aggregate has one row
    return Load._make(row)


def queue(conn: Conn) -> Queue:
    """How many tasks wait."""
    row = conn.execute(_QUEUE).fetchone()
    return Queue._make(row) if row else Queue(0, 0, None)


def wakeups(conn: Conn) -> Wakeups:
    """How many wake-ups are due."""
    row = conn.execute(_WAKEUPS).fetchone()
    return Wakeups._make(row) if row else Wakeups(0, None)


def database(conn: Conn) -> Database:
    """Version, size and oldest snapshot."""
    row = conn.execute(_DATABASE).fetchone()
    assert row is not None  # a select without a from clause has one row
    return Database._make(row)


def unserved(conn: Conn) -> list[Unserved]:
    """For which queues something waits and no live worker is there."""
    return [Unserved._make(row) for row in conn.execute(_UNSERVED)]


def roomless(conn: Conn) -> list[Roomless]:
    """Which pools tasks wait for in vain."""
    return [Roomless._make(row) for row in conn.execute(_ROOMLESS)]


def warned(conn: Conn) -> list[Warned]:
    """What processes cannot do as they were asked to, by path."""
    return [Warned._make(row) for row in conn.execute(_WARNED)]


def given_up(conn: Conn) -> GivenUp | None:
    """The callbacks that are not run any more; None where there are none."""
    row = conn.execute(_GIVEN_UP).fetchone()
    return GivenUp._make(row) if row else None
