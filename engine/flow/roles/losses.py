"""Freeing what a process held that is gone, whoever finds out."""

from __future__ import annotations

from flow.decide import lost, orphaned_callback
from flow.store import callbacks, tries
from flow.store.callbacks import NewCallback
from flow.store.connect import Conn
from flow.store.tries import Open, Report


def free(conn: Conn, worker: int, reason: str) -> int:
    """Close the tries that a process left open, and release its callbacks; how many tries."""
    left = tries.left_open(conn, worker)
    reports = [Report(one.key, lost(one, reason)) for one in left]
    tries.report(conn, reports)
    callbacks.add(
        conn,
        [
            _callback(one, kind, reason)
            for one, said in zip(left, reports, strict=True)
            if (kind := orphaned_callback(said.ending.state)) is not None
        ],
    )
    callbacks.release(conn, worker)
    return len(left)


def _callback(one: Open, kind: str, reason: str) -> NewCallback:
    return NewCallback(
        run_key=one.run_key,
        dag_id=one.dag_id,
        kind=kind,
        reason=reason,
        executor=one.executor,
        queue=one.queue,
        task_id=one.task_id,
        map_path=one.map_path,
        try_number=one.try_number,
        max_tries=one.max_tries,
    )
