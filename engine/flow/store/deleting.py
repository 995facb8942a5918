"""Deleting runs that have ended, and what else is kept of DAGs.

Whoever deletes a DAG's history holds its row, and deletes runs first: so many at a time that no
transaction takes long, each by the keys of its runs, which lie in few partitions of the history.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from flow.states import RunState
from flow.store.connect import Conn
from flow.store.read.page import number


class Kept(NamedTuple):
    """What is kept of a DAG. `first` and `last` are starts of intervals; None: it has no run."""

    runs: dict[RunState, int]
    first: datetime | None
    last: datetime | None
    versions: int
    backfills: int


class Ended(NamedTuple):
    """How many runs of a DAG have ended since some moment, and when the last of them did."""

    runs: int
    last: datetime | None


class OldRun(NamedTuple):
    """A run, and where it stands among those of its DAG."""

    run_key: int
    logical_date: datetime


# All that belongs to runs that have ended: their other rows are in history. A callback that has not
# run yet has nobody any more whom it could be about.
_DELETE = tuple(
    f"delete from {table} where run_key = any(%(run_keys)s::bigint[])"
    for table in (
        *("task_history", "try_history", "xcom_history", "event_history"),
        *("callback", "wakeup", "stopping", "run"),
    )
)

# All runs of the DAG, once; index run_by_date.
_RUNS = """
select state, count(*), min(data_interval_start), max(data_interval_start) from run
where dag_id = %(dag_id)s group by state order by state
"""
_VERSIONS = "select count(*) from dag_version where dag_id = %(dag_id)s"
# A few hundred backfills at most.
_BACKFILLS = "select count(*) from backfill where dag_id = %(dag_id)s"

# Index run_ended.
_ENDED = """
select count(*), max(ended_at) from run
where dag_id = %(dag_id)s and state in ('success', 'failed') and ended_at >= %(since)s
"""
# Both apart from the reading: who has waited for a lock reads what is there then. The first one
# keeps nobody waiting but who deletes the DAG.
_PREVENT = "select from dag where dag_id = %(dag_id)s for key share"
_CLAIM = "select from dag where dag_id = %(dag_id)s for update"

# Index run_unfinished.
_UNFINISHED = """
select count(*) from run where dag_id = %(dag_id)s and state in ('queued', 'running')
"""
# Index backfill_active.
_ACTIVE_BACKFILL = """
select min(backfill_id) from backfill where dag_id = %(dag_id)s and ended_at is null
"""

# Index run_by_date, from where the last look ended: what was deleted before is not passed again.
_OLDEST = """
select run_key, logical_date from run
where dag_id = %(dag_id)s and (logical_date, run_key)
  > (coalesce(%(logical_date)s::timestamptz, '-infinity'), %(run_key)s::bigint)
order by logical_date, run_key limit %(limit)s
"""

# Primary key prefixes.
_TASKS = """
select run_key, count(*) from task_history where run_key = any(%(run_keys)s::bigint[])
group by run_key
"""

# Without runs nothing refers to a version. A spec goes with its last version.
_FORGET = """
with gone as (
  delete from dag_version where dag_id = %(dag_id)s and number <> %(kept)s::int
  returning spec_hash)
select array_agg(distinct spec_hash) from gone
"""
_FORGET_BACKFILLS = "delete from backfill where dag_id = %(dag_id)s"
_FORGET_SPECS = """
delete from spec s where s.hash = any(%(hashes)s::text[])
  and not exists (select from dag_version v where v.spec_hash = s.hash)
"""
_DROP = "delete from dag where dag_id = %(dag_id)s"


def delete(conn: Conn, run_keys: Sequence[int]) -> None:
    """Delete ended runs with everything that belongs to them."""
    for statement in _DELETE:
        conn.execute(statement, {"run_keys": list(run_keys)})


def prevent(conn: Conn, dag_id: str) -> None:
    """Let nobody delete a DAG, or its versions, before this transaction ends: it needs them."""
    conn.execute(_PREVENT, {"dag_id": dag_id})


def claim(conn: Conn, dag_id: str) -> None:
    """Wait for all who prevent it or hold the DAG, and hold it: it may be deleted now."""
    conn.execute(_CLAIM, {"dag_id": dag_id})


def kept(conn: Conn, dag_id: str) -> Kept:
    """Count what is kept of a DAG."""
    asked = {"dag_id": dag_id}
    states = conn.execute(_RUNS, asked).fetchall()
    return Kept(
        runs={RunState(state): count for state, count, _, _ in states},
        first=min((first for _, _, first, _ in states), default=None),
        last=max((last for _, _, _, last in states), default=None),
        versions=number(conn, _VERSIONS, asked),
        backfills=number(conn, _BACKFILLS, asked),
    )


def ended(conn: Conn, dag_id: str, since: datetime) -> Ended:
    """The runs of a DAG that have ended since a moment."""
    row = conn.execute(_ENDED, {"dag_id": dag_id, "since": since}).fetchone()
    assert row is not None  # an aggregate always has one
    return Ended._make(row)


def unfinished(conn: Conn, dag_id: str) -> int:
    """How many runs of a DAG have not ended."""
    return number(conn, _UNFINISHED, {"dag_id": dag_id})


def active_backfill(conn: Conn, dag_id: str) -> int | None:
    """The id of a backfill of a DAG that has not ended."""
    row = conn.execute(_ACTIVE_BACKFILL, {"dag_id": dag_id}).fetchone()
    return row[0] if row else None


def oldest(conn: Conn, dag_id: str, after: OldRun | None, limit: int) -> list[OldRun]:
    """The oldest runs of a DAG by logical date, behind one of them."""
    asked = {
        "dag_id": dag_id,
        "logical_date": after.logical_date if after else None,
        "run_key": after.run_key if after else 0,
        "limit": limit,
    }
    return [OldRun._make(row) for row in conn.execute(_OLDEST, asked)]


def tasks(conn: Conn, run_keys: Sequence[int]) -> dict[int, int]:
    """How many task instances ended runs have; those without any are absent."""
    return dict(conn.execute(_TASKS, {"run_keys": list(run_keys)}).fetchall())


def forget(conn: Conn, dag_id: str, kept_version: int | None = None) -> None:
    """Delete the versions of a DAG that has no run any more, but one, and its backfills."""
    conn.execute(_FORGET_BACKFILLS, {"dag_id": dag_id})
    row = conn.execute(_FORGET, {"dag_id": dag_id, "kept": kept_version or 0}).fetchone()
    conn.execute(_FORGET_SPECS, {"hashes": (row and row[0]) or []})


def drop(conn: Conn, dag_id: str) -> None:
    """Delete a DAG of which nothing is kept any more, with what its timetable has said."""
    conn.execute(_DROP, {"dag_id": dag_id})
