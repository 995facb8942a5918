"""Repairing what the invariants say cannot happen, counting it, and making room for history.

Invariant 1: every unfinished run has a wake-up, or a task that somebody owns. A run without either
gets a wake-up here, and so does a ready task that has room and that nothing would admit; each one
is a fault of Flow and is logged as such. Tests require the count 0.

What has waited too long is raised here too, which is no fault.
"""

from __future__ import annotations

import logging

from flow.store import candidates, invariants, ready, wakeups
from flow.store.connect import Conn, transaction
from flow.store.ready import Stranded

log = logging.getLogger(__name__)


def sweep(conn: Conn, starvation_after: float) -> int:
    """Wake forgotten runs, DAGs and tasks; how many there were.

    Tasks that have waited for longer than `starvation_after` seconds are put before others.
    """
    with transaction(conn, "schedule.sweep"):
        invariants.ensure_partitions(conn)
        forgotten = invariants.forgotten_runs(conn)
        stalled = invariants.forgotten_dags(conn)
        stranded = ready.stranded(conn)
        wakeups.wake_runs(conn, [(run_key, None, None) for run_key in forgotten])
        wakeups.wake_named(conn, [("dag", dag_id) for dag_id in stalled])
        _wake_stranded(conn, stranded)
        raised = ready.raise_late(conn, starvation_after)
        returned = candidates.unqueue(conn)
    for run_key in forgotten:
        log.error("run %d was forgotten: it had neither a wake-up nor an owned task", run_key)
    for dag_id in stalled:
        log.error("DAG %s was forgotten: a run or backfill had room, and it no wake-up", dag_id)
    for one in stranded:
        log.error(
            "task %s of run %d was forgotten: it had room and no wake-up", one.task_id, one.run_key
        )
    if raised:
        log.info("%d tasks have waited for %g s and go before others now", raised, starvation_after)
    if returned:
        log.warning("%d queued tasks went back: no live worker serves their queue", returned)
    return len(forgotten) + len(stalled) + len(stranded)


def _wake_stranded(conn: Conn, stranded: list[Stranded]) -> None:
    """Their pools, or their runs where the pool has no limit."""
    runs = {one.run_key for one in stranded if one.unlimited}
    pools = {one.pool for one in stranded if not one.unlimited}
    wakeups.wake_runs(conn, [(run_key, None, None) for run_key in sorted(runs)])
    wakeups.wake_named(conn, [("pool", pool) for pool in sorted(pools)])
