"""The state of a whole deployment: roles, queue, wake-ups, database."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.store.connect import Conn


class Role(NamedTuple):
    """A process that has not ended, as far as the database knows."""

    role: str
    host: str
    pid: int
    started_at: datetime
    heartbeat_age_s: float


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


# Index process_alive.
_ROLES = """
select role, host, pid, started_at,
  extract(epoch from clock_timestamp() - heartbeat_at)::float8
from process where ended_at is null order by role, host, pid
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

_UNSERVED = """
select distinct t.executor, t.queue from task_hot t
where t.state in ('scheduled', 'queued') and not exists (
  select from process p where p.role = 'work' and p.ended_at is null and not p.draining
    and p.executor = t.executor and t.queue = any(p.queues))
order by t.executor, t.queue
"""


def roles(conn: Conn) -> list[Role]:
    """The processes that have not ended."""
    return [Role._make(row) for row in conn.execute(_ROLES)]


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


def unserved(conn: Conn) -> list[tuple[str, str]]:
    """(executor, queue) pairs for which tasks wait and no live worker is there."""
    return [(executor, queue) for executor, queue in conn.execute(_UNSERVED)]
