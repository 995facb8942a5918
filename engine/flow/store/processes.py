"""The long-lived processes: one row per start, never reused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from flow.store.connect import Conn
from flow.store.text import storable

MOST_WARNINGS: Final = 100
"""Of one process; its log has all."""


class Observed(NamedTuple):
    """What a scheduler sees of a process when it looks."""

    process_id: int
    role: str
    host: str
    pid: int
    heartbeat: int
    lost_after: float


_REGISTER = """
insert into process (role, host, pid, version, lost_after, executor, queues, slots)
values (%(role)s, %(host)s, %(pid)s, %(version)s, %(lost_after)s, %(executor)s,
  %(queues)s::text[], %(slots)s)
returning process_id
"""

# Counts up the one row of this process; a row that was declared lost is not revived.
_HEARTBEAT = """
update process set heartbeat = heartbeat + 1, heartbeat_at = clock_timestamp(),
  slots = coalesce(%(slots)s::int, slots)
where process_id = %(process_id)s and ended_at is null
"""

_WARN = """
update process set warnings = %(warnings)s::jsonb
where process_id = %(process_id)s and ended_at is null
"""

_DRAIN = "update process set draining = true where process_id = %(process_id)s and ended_at is null"

_END = """
update process set ended_at = clock_timestamp(), ended_reason = %(reason)s
where process_id = %(process_id)s and ended_at is null
"""

# Compare-and-set on the heartbeat: one that moved meanwhile is alive, and a loss is handled once.
# One that holds its own row, to claim, is passed over: whoever waited for a session that stands
# still would find nobody else.
_LOSE = """
update process p set ended_at = clock_timestamp(), ended_reason = 'lost'
from (select process_id from process
  where process_id = %(process_id)s and heartbeat = %(heartbeat)s and ended_at is null
  for no key update skip locked) as silent
where p.process_id = silent.process_id
"""

_ALIVE = """
select process_id, role, host, pid, heartbeat, lost_after from process
where ended_at is null and role = any(%(roles)s::text[]) order by process_id
"""

# Predecessors of a worker on its own host: they cannot be alive, their process ids are not.
_ON_HOST = """
select process_id, role, host, pid, heartbeat, lost_after from process
where ended_at is null and role = %(role)s and host = %(host)s order by process_id
"""


def register(
    conn: Conn,
    *,
    role: str,
    host: str,
    pid: int,
    version: str,
    lost_after: float,
    executor: str | None = None,
    queues: Sequence[str] = (),
    slots: int = 0,
) -> int:
    """Add a row for a process that starts; returns its id. `lost_after` in seconds."""
    row = conn.execute(
        _REGISTER,
        {
            "role": role,
            "host": host,
            "pid": pid,
            "version": version,
            "lost_after": lost_after,
            "executor": executor,
            "queues": list(queues),
            "slots": slots,
        },
    ).fetchone()
    assert row is not None  # insert … returning has a row
    return int(row[0])


def heartbeat(conn: Conn, process_id: int, slots: int | None = None) -> bool:
    """Count up, and say how many slots there are now; False when it was declared lost or ended."""
    values = {"process_id": process_id, "slots": slots}
    return conn.execute(_HEARTBEAT, values).rowcount == 1


def warn(conn: Conn, process_id: int, warnings: Mapping[str, str]) -> None:
    """Say what a process cannot do as it was asked to, by path; the first ones of very many."""
    kept = {
        storable(path): storable(text) for path, text in sorted(warnings.items())[:MOST_WARNINGS]
    }
    values = {"process_id": process_id, "warnings": json.dumps(kept)}
    conn.execute(_WARN, values)


def drain(conn: Conn, process_id: int) -> None:
    """Say that the process takes nothing new."""
    conn.execute(_DRAIN, {"process_id": process_id})


def end(conn: Conn, process_id: int, reason: str) -> bool:
    """Close the row; False when it was closed already."""
    return conn.execute(_END, {"process_id": process_id, "reason": reason}).rowcount == 1


def lose(conn: Conn, process_id: int, heartbeat: int) -> bool:
    """Declare a process lost that has not counted up since `heartbeat`.

    False if it has, or is just claiming something.
    """
    values = {"process_id": process_id, "heartbeat": heartbeat}
    return conn.execute(_LOSE, values).rowcount == 1


def alive(conn: Conn, roles: Sequence[str]) -> list[Observed]:
    """Processes of some roles that have not ended."""
    return [Observed._make(row) for row in conn.execute(_ALIVE, {"roles": list(roles)})]


def on_host(conn: Conn, role: str, host: str) -> list[Observed]:
    """Processes of a role on a host that have not ended."""
    rows = conn.execute(_ON_HOST, {"role": role, "host": host})
    return [Observed._make(row) for row in rows]
