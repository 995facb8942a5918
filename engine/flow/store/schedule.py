"""The schedule's side of DAG rows: what is due, and where the cursor stands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from psycopg import Cursor

from flow.store import arrays
from flow.store.connect import Conn, Row
from flow.store.runs import Active
from flow.timetables import Planned


class DueDag(NamedTuple):
    """A DAG whose next run is due, its row locked. Dates are aware UTC datetimes."""

    dag_id: str
    version: int
    spec_hash: str
    cursor: datetime | None
    max_active_runs: int


class WokenDag(NamedTuple):
    """A DAG that was woken, its row locked. `paused`: only its backfills go on."""

    due: DueDag
    paused: bool
    backfills: bool
    """It has an active backfill."""


class Position(NamedTuple):
    """Where a DAG's schedule stands: the cursor, and the next interval (None: nothing to wait for).

    `next_run_at` is when the interval's run is due.
    """

    dag_id: str
    cursor: datetime | None
    next_start: datetime | None
    next_end: datetime | None
    next_run_at: datetime | None


_BACKFILLS = "exists (select from backfill b where b.dag_id = d.dag_id and b.ended_at is null)"

# DAGs that were woken: a run of theirs ended. Locked in order of id; those held elsewhere wait.
# Index backfill_active: backfills go on while their DAG is paused.
_LOCK = f"""
select d.dag_id, d.version, v.spec_hash, d.cursor_at, d.max_active_runs, d.paused, {_BACKFILLS}
from dag d join dag_version v on v.dag_id = d.dag_id and v.number = d.version
where d.dag_id = any(%(dag_ids)s::text[]) and (not d.paused or {_BACKFILLS})
order by d.dag_id for no key update of d skip locked
"""

_EXIST = f"""
select d.dag_id from dag d
where d.dag_id = any(%(dag_ids)s::text[]) and (not d.paused or {_BACKFILLS})
"""

# Many DAGs stand at the same place, which travels once.
_MOVE = """
update dag d set cursor_at = p.cursor_at, next_start = p.next_start, next_end = p.next_end,
  next_run_at = p.next_run_at
from unnest(%(dag_id)s::text[], %(place)s::int[]) as m(dag_id, place)
join unnest(%(cursor)s::timestamptz[], %(next_start)s::timestamptz[], %(next_end)s::timestamptz[],
    %(next_run_at)s::timestamptz[])
  with ordinality as p(cursor_at, next_start, next_end, next_run_at, place)
  on p.place = m.place
where d.dag_id = m.dag_id
"""


def position(dag_id: str, cursor: datetime | None, planned: Planned | None) -> Position:
    """Of a schedule that stands at `cursor` and goes on with `planned`."""
    if planned is None:
        return Position(dag_id, cursor, None, None, None)
    start, end = planned.interval
    return Position(dag_id, cursor, start, end, planned.due_at)


def take_due(limit: int) -> str:
    """The statement that takes up to `limit` DAGs whose next run is due, to travel with a begin.

    It locks them, passing over what another scheduler holds, and counts their unfinished runs under
    the lock. `due` reads its answer.
    """
    return (
        "select dag_id, version, spec_hash, cursor_at, max_active_runs, runs, running, unfinished, "
        f"latest from take_due({limit})"
    )


def due(answer: Cursor[Row]) -> tuple[list[DueDag], dict[str, Active]]:
    """What `take_due` has taken, longest due first, and their unfinished runs by dag_id.

    A DAG without any is absent there.
    """
    rows = answer.fetchall()
    counts = {row[0]: Active._make(row[6:]) for row in rows if row[5]}
    return [DueDag._make(row[:5]) for row in rows], counts


def lock(conn: Conn, dag_ids: Sequence[str]) -> tuple[list[WokenDag], set[str]]:
    """Lock DAGs, but paused ones without a backfill; also the ids that are held elsewhere."""
    values = {"dag_ids": list(dag_ids)}
    locked = [
        WokenDag(DueDag._make(due), paused, backfills)
        for *due, paused, backfills in conn.execute(_LOCK, values)
    ]
    going_on = {row[0] for row in conn.execute(_EXIST, values)}
    return locked, going_on - {dag.due.dag_id for dag in locked}


def move(conn: Conn, positions: Sequence[Position]) -> None:
    """Write where schedules stand."""
    if not positions:
        return
    numbers, places = arrays.profiles(one[1:] for one in positions)
    cursor, next_start, next_end, next_run_at = zip(*places, strict=True)
    conn.later(
        _MOVE,
        {
            "dag_id": arrays.texts([one.dag_id for one in positions]),
            "place": arrays.numbers(numbers),
            "cursor": arrays.times(cursor),
            "next_start": arrays.times(next_start),
            "next_end": arrays.times(next_end),
            "next_run_at": arrays.times(next_run_at),
        },
    )
