"""Backfills as operations make, hold and end them. The callers hold the row of the DAG.

Locks: DAG, backfill, run, pool, task.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from flow.decide.backfill import Action, Order, Reprocess
from flow.states import BackfillState
from flow.store import arrays
from flow.store.connect import Conn


class NewBackfill(NamedTuple):
    """A backfill to store. `conf` is a JSON object; None: none was given."""

    dag_id: str
    tasks: list[str] | None
    order: Order
    reprocess: Reprocess
    version: str
    max_active_runs: int
    conf: str | None
    priority: int
    created_by: str


class NewInterval(NamedTuple):
    """One of its intervals; of one that is left alone with the key of its run and the reason."""

    start: datetime
    end: datetime
    action: Action
    note: str | None
    run_key: int | None


class Taken(NamedTuple):
    """An interval that an active backfill has already."""

    backfill_id: int
    start: datetime


class LockedBackfill(NamedTuple):
    """A backfill whose row this transaction holds."""

    backfill_id: int
    dag_id: str
    state: BackfillState
    ended_at: datetime | None


_ADD = """
insert into backfill (dag_id, tasks, run_order, reprocess, version, max_active_runs, conf, priority,
  created_by)
values (%(dag_id)s, %(tasks)s::text[], %(order)s, %(reprocess)s, %(version)s, %(max_active_runs)s,
  %(conf)s, %(priority)s, %(created_by)s)
returning backfill_id
"""

# In the order in which they are given. Index backfill_of_interval refuses an interval that another
# active backfill has.
_ADD_INTERVALS = """
insert into backfill_interval (backfill_id, ordinal, dag_id, data_interval_start, data_interval_end,
  action, note, run_key, active)
select %(backfill_id)s, n.ordinal, %(dag_id)s, n.data_interval_start, n.data_interval_end, n.action,
  n.note, n.run_key, n.action <> 'skip'
from unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[], %(actions)s::text[],
    %(notes)s::text[], %(run_keys)s::bigint[])
  with ordinality as n(data_interval_start, data_interval_end, action, note, run_key, ordinal)
"""

# Index backfill_of_interval.
_TAKEN = """
select backfill_id, data_interval_start from backfill_interval
where active and dag_id = %(dag_id)s and data_interval_start = any(%(starts)s::timestamptz[])
order by data_interval_start limit 1
"""

_LOCK = """
select backfill_id, dag_id, state, ended_at from backfill where backfill_id = %(backfill_id)s
for no key update
"""

_SET_STATE = "update backfill set state = %(state)s where backfill_id = %(backfill_id)s"

# As long as somebody holds them so, they do not end: see `flow.roles.schedule.backfilling`.
_HOLD = """
select from backfill where ended_at is null and backfill_id in (
  select backfill_id from run where run_key = any(%(run_keys)s::bigint[]))
order by backfill_id for share
"""

# Index run_of_backfill.
_UNDER_WAY = """
select run_key from run where backfill_id = %(backfill_id)s and state in ('queued', 'running')
"""


def add(conn: Conn, backfill: NewBackfill, intervals: Sequence[NewInterval]) -> int:
    """Store a backfill with its intervals in their order; its id."""
    row = conn.execute(_ADD, backfill._asdict()).fetchone()
    assert row is not None  # an insert returns what it has inserted
    backfill_id: int = row[0]
    conn.execute(
        _ADD_INTERVALS,
        {
            "backfill_id": backfill_id,
            "dag_id": backfill.dag_id,
            "starts": arrays.times([one.start for one in intervals]),
            "ends": arrays.times([one.end for one in intervals]),
            "actions": arrays.texts([one.action for one in intervals]),
            "notes": arrays.texts([one.note for one in intervals]),
            "run_keys": arrays.numbers([one.run_key for one in intervals]),
        },
    )
    return backfill_id


def taken(conn: Conn, dag_id: str, starts: Sequence[datetime]) -> Taken | None:
    """The first of some intervals that an active backfill has already."""
    values = {"dag_id": dag_id, "starts": arrays.times(starts)}
    row = conn.execute(_TAKEN, values).fetchone()
    return Taken._make(row) if row else None


def lock(conn: Conn, backfill_id: int) -> LockedBackfill:
    """Lock a backfill that exists."""
    row = conn.execute(_LOCK, {"backfill_id": backfill_id}).fetchone()
    assert row is not None  # nothing deletes backfills of a DAG that is held
    return LockedBackfill(row[0], row[1], BackfillState(row[2]), row[3])


def set_state(conn: Conn, backfill_id: int, state: BackfillState) -> None:
    """Let an active backfill go on, wait, or make no more runs."""
    conn.execute(_SET_STATE, {"backfill_id": backfill_id, "state": state.value})


def hold(conn: Conn, run_keys: Sequence[int]) -> None:
    """Keep the active backfills of some runs from ending, for who puts these back into the queue.

    Before the runs are locked.
    """
    if run_keys:
        conn.execute(_HOLD, {"run_keys": list(run_keys)})


def under_way(conn: Conn, backfill_id: int) -> list[int]:
    """Keys of the runs of a backfill that have not ended."""
    return [row[0] for row in conn.execute(_UNDER_WAY, {"backfill_id": backfill_id})]
