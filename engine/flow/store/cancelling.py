"""Ending runs by hand, under the locks of the runs and their tasks; and deleting ended ones."""

from __future__ import annotations

from collections.abc import Sequence

from flow.store.connect import Conn

# Whatever has not ended is skipped. The claim grows where somebody holds the task or may come back
# to it: what they say later no longer counts.
_SKIP = """
update task_hot t set state = 'skipped', reason = %(reason)s, worker = null, due_at = null,
  claim = t.claim + (t.state in ('running', 'restarting', 'deferred', 'up_for_reschedule',
    'awaiting_input'))::int,
  ended_at = clock_timestamp()
where t.run_key = any(%(run_keys)s::bigint[])
  and t.state not in ('success', 'failed', 'skipped', 'upstream_failed', 'removed')
"""

_CLOSE_TRIES = """
update try_hot set state = 'skipped', reason = %(reason)s, ended_at = clock_timestamp()
where run_key = any(%(run_keys)s::bigint[]) and ended_at is null
"""

# All that belongs to runs that have ended: their other rows are in history. A callback that has not
# run yet has nobody any more whom it could be about.
_DELETE = tuple(
    f"delete from {table} where run_key = any(%(run_keys)s::bigint[])"
    for table in (
        *("task_history", "try_history", "xcom_history", "event_history"),
        *("callback", "wakeup", "stopping", "run"),
    )
)


def skip(conn: Conn, run_keys: Sequence[int], reason: str) -> None:
    """Skip the rows of runs that have not ended, and close their open tries."""
    if run_keys:
        values = {"run_keys": list(run_keys), "reason": reason}
        conn.execute(_SKIP, values)
        conn.execute(_CLOSE_TRIES, values)


def delete(conn: Conn, run_keys: Sequence[int]) -> None:
    """Delete ended runs with everything that belongs to them."""
    for statement in _DELETE:
        conn.execute(statement, {"run_keys": list(run_keys)})
