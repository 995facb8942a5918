"""Deleting runs that have ended."""

from __future__ import annotations

from collections.abc import Sequence

from flow.store.connect import Conn

# All that belongs to runs that have ended: their other rows are in history. A callback that has not
# run yet has nobody any more whom it could be about.
_DELETE = tuple(
    f"delete from {table} where run_key = any(%(run_keys)s::bigint[])"
    for table in (
        *("task_history", "try_history", "xcom_history", "event_history"),
        *("callback", "wakeup", "stopping", "run"),
    )
)


def delete(conn: Conn, run_keys: Sequence[int]) -> None:
    """Delete ended runs with everything that belongs to them."""
    for statement in _DELETE:
        conn.execute(statement, {"run_keys": list(run_keys)})
