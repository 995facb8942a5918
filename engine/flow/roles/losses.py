"""Freeing what a process held that is gone, whoever finds out."""

from __future__ import annotations

from collections.abc import Collection

from flow.decide import AfterTry, after_loss
from flow.states import TaskState, TryState
from flow.store import callbacks, tries
from flow.store.connect import Conn
from flow.store.tries import Claim, Open, Report


def free(
    conn: Conn,
    worker: int,
    reason: str,
    *,
    held: Collection[Claim] = (),
    held_callbacks: Collection[int] = (),
) -> int:
    """Close the tries that a process left open and release its callbacks; how many tries.

    Where the process lives, `held` and `held_callbacks` name what it has not let go of.
    """
    left = [one for one in tries.left_open(conn, worker) if one.key not in held]
    tries.report(conn, [_report(one, after_loss(one), reason) for one in left])
    callbacks.add(
        conn,
        [
            callbacks.NewCallback(
                run_key=one.run_key,
                dag_id=one.dag_id,
                kind="retry" if after_loss(one).state is TaskState.UP_FOR_RETRY else "failure",
                reason=reason,
                executor=one.executor,
                queue=one.queue,
                task_id=one.task_id,
                map_path=one.map_path,
                try_number=one.try_number,
                max_tries=one.max_tries,
            )
            for one in left
            if not after_loss(one).again
        ],
    )
    callbacks.release(conn, worker, held_callbacks)
    return len(left)


def _report(one: Open, after: AfterTry, reason: str) -> Report:
    return Report(
        claim=one.key,
        state=after.state,
        try_state=TryState.LOST if after.again else TryState.FAILED,
        reason=reason if after.again else f"worker_lost: {reason}",
        delay=after.delay,
        again=after.again,
    )
