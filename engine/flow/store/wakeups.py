"""Wake-ups: what may change a future."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from psycopg import Cursor

from flow.store.connect import Conn, Row

BUSY_AGAIN: Final = 0.02
"""Seconds after which a wake-up is due again when another scheduler held what it is about."""


class Wakeup(NamedTuple):
    """One row: look at this DAG, pool or queue. Those of runs are taken by `runs.take_woken`."""

    id: int
    kind: str
    name: str | None


# Exactly the rows that were taken: what arrived meanwhile stays.
_DELETE = "delete from wakeup where id = any(%(ids)s::bigint[])"

# Rows about something that another scheduler holds come back a little later.
_POSTPONE = """
update wakeup set due_at = clock_timestamp() + make_interval(secs => %(seconds)s::float8)
where id = any(%(ids)s::bigint[])
"""

_ADD_RUNS = """
insert into wakeup (kind, run_key, task_id, due_at)
select 'run', run_key, task_id, coalesce(due_at, clock_timestamp())
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(due)s::timestamptz[])
  as w(run_key, task_id, due_at)
"""

_ADD_NAMED = """
insert into wakeup (kind, name)
select kind, name from unnest(%(kinds)s::text[], %(names)s::text[]) as w(kind, name)
"""


def take_named(limit: int) -> str:
    """The statement that takes up to `limit` due wake-ups of DAGs, pools and queues, oldest first.

    To travel with a begin; `named` reads its answer. They are the caller's until its commit; one
    that another scheduler holds is passed over. Index wakeup_due, which a volatile
    clock_timestamp() could not be looked up in.
    """
    return (
        "select id, kind, name from wakeup "
        "where kind in ('dag', 'pool', 'queue') and due_at <= statement_timestamp() "
        f"order by due_at, id limit {limit} for update skip locked"
    )


def named(answer: Cursor[Row]) -> list[Wakeup]:
    """What `take_named` has taken."""
    return [Wakeup._make(row) for row in answer]


def delete(conn: Conn, ids: Sequence[int]) -> None:
    """Delete wake-ups that were taken."""
    if ids:
        conn.later(_DELETE, {"ids": list(ids)})


def postpone(conn: Conn, ids: Sequence[int]) -> None:
    """Make taken wake-ups due again in `BUSY_AGAIN` seconds."""
    if ids:
        conn.later(_POSTPONE, {"ids": list(ids), "seconds": BUSY_AGAIN})


def wake_runs(conn: Conn, wakes: Iterable[tuple[int, str | None, datetime | None]]) -> None:
    """Append (run_key, what changed in it or None, when due or None for now)."""
    rows = list(wakes)
    if rows:
        run_keys, task_ids, due = zip(*rows, strict=True)
        conn.later(
            _ADD_RUNS, {"run_keys": list(run_keys), "task_ids": list(task_ids), "due": list(due)}
        )


def wake_named(conn: Conn, wakes: Iterable[tuple[str, str]]) -> None:
    """Append (kind, name) of DAGs, pools and queues."""
    rows = list(wakes)
    if rows:
        kinds, names = zip(*rows, strict=True)
        conn.later(_ADD_NAMED, {"kinds": list(kinds), "names": list(names)})
