"""Freeing what a process held that is gone, whoever finds out."""

from __future__ import annotations

import logging
from collections.abc import Collection

from flow.decide import lost, orphaned_callback
from flow.store import callbacks, stopping, tries
from flow.store.connect import Conn
from flow.store.tries import Claim, Report

log = logging.getLogger(__name__)


def free(
    conn: Conn,
    worker: int,
    reason: str,
    *,
    held: Collection[Claim] = (),
    held_callbacks: Collection[int] = (),
) -> int:
    """Close the tries that a process left open and release its callbacks; how many tries.

    What it was still to stop is dead too. Where the process lives, `held` and `held_callbacks`
    name what it has not let go of.
    """
    stopping.gone(conn, stopping.of_worker(conn, worker) - set(held))
    left = [one for one in tries.left_open(conn, worker) if one.key not in held]
    reports = [Report(one.key, lost(one, reason)) for one in left]
    counted = tries.report(conn, reports)
    callbacks.add(
        conn,
        [
            callbacks.of_try(one, kind, reason)
            for one, said in zip(left, reports, strict=True)
            if one.key in counted and (kind := orphaned_callback(said.ending.state)) is not None
        ],
    )
    release_callbacks(conn, worker, reason, held_callbacks)
    return len(left)


def release_callbacks(conn: Conn, worker: int, reason: str, held: Collection[int] = ()) -> None:
    """Let others run the callbacks that a process has not run and does not hold."""
    for one in callbacks.release(conn, worker, reason, held):
        log.error(
            "the %s callback %d of %s%s is given up: %s",
            one.kind, one.callback_id, one.dag_id, f".{one.task_id}" if one.task_id else "",
            one.reason,
        )  # fmt: skip
