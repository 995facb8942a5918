"""Runs whose rows an operation holds, in whatever state they are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from flow.store.connect import Conn


class LockedRun(NamedTuple):
    """A run whose row this transaction holds, in whatever state it is."""

    run_key: int
    dag_id: str
    run_id: str
    state: str
    version: int
    spec_hash: str
    archived: bool
    logical_date: datetime
    paused: bool


# Waits for schedulers that hold them, in order of key; states of tasks are read in a later
# statement.
_LOCK = """
select r.run_key, r.dag_id, r.run_id, r.state, r.version, v.spec_hash, r.archived,
  r.logical_date, r.paused
from run r join dag_version v on v.dag_id = r.dag_id and v.number = r.version
where r.run_key = any(%(run_keys)s::bigint[])
order by r.run_key for no key update of r
"""


def lock(conn: Conn, run_keys: Sequence[int]) -> list[LockedRun]:
    """Lock runs, in order of key; those that were deleted meanwhile are left out."""
    rows = conn.execute(_LOCK, {"run_keys": list(run_keys)})
    return [LockedRun._make(row) for row in rows]
