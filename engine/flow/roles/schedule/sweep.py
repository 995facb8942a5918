"""Repairing what the invariants say cannot happen, counting it, and making room for history.

Invariant 1: every unfinished run has a wake-up, or a task that somebody owns. A run without either
gets a wake-up here; each one is a fault of Flow and is logged as such. Tests require the count 0.
"""

from __future__ import annotations

import logging

from flow.store import gates, invariants, wakeups
from flow.store.connect import Conn, transaction

log = logging.getLogger(__name__)


def sweep(conn: Conn) -> int:
    """Wake forgotten runs and DAGs; how many there were."""
    with transaction(conn, "schedule.sweep"):
        invariants.ensure_partitions(conn)
        forgotten = invariants.forgotten_runs(conn)
        stalled = invariants.forgotten_dags(conn)
        wakeups.wake_runs(conn, [(run_key, None, None) for run_key in forgotten])
        wakeups.wake_named(conn, [("dag", dag_id) for dag_id in stalled])
        returned = gates.unqueue(conn)
    for run_key in forgotten:
        log.error("run %d was forgotten: it had neither a wake-up nor an owned task", run_key)
    for dag_id in stalled:
        log.error("DAG %s was forgotten: it had room for a queued run and no wake-up", dag_id)
    if returned:
        log.warning("%d queued tasks went back: no live worker serves their queue", returned)
    return len(forgotten) + len(stalled)
