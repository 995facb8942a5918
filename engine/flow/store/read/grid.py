"""The runs that a grid shows as its columns."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.store.connect import Conn


class GridRun(NamedTuple):
    """One column."""

    run_key: int
    run_id: str
    run_type: str
    state: str
    logical_date: datetime
    started_at: datetime | None
    ended_at: datetime | None
    version: int


# Index run_by_date.
_RUNS = """
select run_key, run_id, run_type, state, logical_date, started_at, ended_at, version from run
where dag_id = %(dag_id)s order by logical_date desc, run_key desc limit %(limit)s
"""


def runs(conn: Conn, dag_id: str, limit: int) -> list[GridRun]:
    """The newest runs of a DAG, oldest of them first."""
    rows = conn.execute(_RUNS, {"dag_id": dag_id, "limit": limit}).fetchall()
    return [GridRun._make(row) for row in reversed(rows)]
