"""Pausing DAGs and letting them go on. The callers hold the DAGs' rows."""

from __future__ import annotations

from collections.abc import Sequence

from flow.store.connect import Conn

_SET = "update dag set paused = %(paused)s where dag_id = any(%(dag_ids)s::text[])"

# Index run_unfinished.
_QUEUED = """
select count(*) from run where dag_id = %(dag_id)s and state = 'queued' and not paused
"""


def set_paused(conn: Conn, dag_ids: Sequence[str], *, paused: bool) -> None:
    """Let no new run of these DAGs be created or started, or let them go on."""
    conn.execute(_SET, {"dag_ids": list(dag_ids), "paused": paused})


def queued_runs(conn: Conn, dag_id: str) -> int:
    """How many runs of a DAG wait to be started."""
    row = conn.execute(_QUEUED, {"dag_id": dag_id}).fetchone()
    return row[0] if row else 0
