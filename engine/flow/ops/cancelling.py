"""`flow runs cancel`: runs end now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from flow.decide.reason import Code
from flow.ops import run_endings
from flow.ops.deployment import Change, Deployment
from flow.ops.run_endings import Ending
from flow.ops.run_ranges import RunName, Which, find_runs
from flow.ops.run_targets import Targeted, lock_active, lock_targets
from flow.states import FINISHED, HELD, RunState, TaskState
from flow.store import audit
from flow.store.connect import Conn
from flow.store.run_locks import LockedRun


class CancelledRun(NamedTuple):
    """What becomes of one run: `stopped` tasks were running, `skipped` ones had not ended either.

    Both are skipped, those that have no row yet, too.
    """

    dag_id: str
    run_id: str
    before: RunState
    after: RunState
    stopped: list[str]
    skipped: list[str]


class Cancelling(NamedTuple):
    """What cancelling did, or would do."""

    looked_at: int
    runs: list[CancelledRun]

    @property
    def changes(self) -> int:
        """How many runs end."""
        return len(self.runs)


def cancel(
    deployment: Deployment,
    dag: str,
    which: Which,
    only: Collection[RunName] | None = None,
    *,
    dry_run: bool = False,
) -> Cancelling:
    """End runs as failed, with the reason `cancelled` and without any callback.

    What runs is stopped, and whatever has not ended is skipped. Of a range, runs that have ended
    are left alone; one alone that has ended is a `Conflict`. `only` narrows the runs. Raises
    `NotFound`.
    """
    conn = deployment.conn
    with deployment.change("runs.cancel") as change:
        found = find_runs(conn, dag, which, only)
        otherwise = "to change its verdict, mark it: flow runs mark {run} failed"
        active = lock_active(conn, found, which, otherwise)
        cancelled = end_now(conn, change, active, dry_run=dry_run)
    return Cancelling(len(found), cancelled)


def end_now(
    conn: Conn, change: Change, active: Sequence[LockedRun], *, dry_run: bool
) -> list[CancelledRun]:
    """Cancel locked runs that have not ended; what becomes of them."""
    endings = [_ending(one) for one in lock_targets(conn, active, None)]
    cancelled = [_shown(one) for one in endings]
    if endings and not dry_run:
        run_endings.write(conn, endings, f"cancelled by {audit.os_user()}", Code.CANCELLED)
        run_endings.wake(conn, change, endings)
        for shown in cancelled:
            change.log(
                f"{shown.dag_id}/{shown.run_id}",
                {"state": shown.before.value},
                {"state": shown.after.value, "tasks": [*shown.stopped, *shown.skipped]},
            )
    return cancelled


def _ending(of: Targeted) -> Ending:
    open_ = [target for target in of.targets if target.before not in FINISHED]
    return Ending(of, RunState.FAILED, [(target, TaskState.SKIPPED) for target in open_])


def _shown(ending: Ending) -> CancelledRun:
    targets = [target for target, _ in ending.changes]
    return CancelledRun(
        dag_id=ending.of.run.dag_id,
        run_id=ending.of.run.run_id,
        before=ending.of.state,
        after=ending.state,
        stopped=[str(one.reference) for one in targets if one.before in HELD],
        skipped=[str(one.reference) for one in targets if one.before not in HELD],
    )
