"""`flow backfills`: list, show and follow them; let them wait, go on, or end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from flow.errors import Conflict, NotFound, UsageError
from flow.ops.cancelling import CancelledRun, end_now
from flow.ops.deployment import Deployment
from flow.ops.references import find_dag, find_dags
from flow.ops.waiting import until_changed
from flow.states import FINISHED_RUNS, BackfillState, RunState
from flow.store import backfill_turns, backfills, notify, run_locks, wakeups
from flow.store.connect import Conn
from flow.store.read import backfills as stored
from flow.store.read import changes
from flow.store.read.backfills import Backfill, Interval
from flow.store.read.page import Page
from flow.timetables.zone import load_zone

PACE: Final = 0.5
"""Seconds between two looks at a backfill, at least; …"""
PACE_OF_MANY: Final = 5.0
"""… and for one of `MANY` intervals or more."""
MANY: Final = 5_000


class Details(NamedTuple):
    """A backfill with its intervals in its order, their dates in the DAG's time zone."""

    backfill: Backfill
    intervals: list[Interval]


class CancelledBackfill(NamedTuple):
    """What cancelling did, or would do: `runs` are ended, `waiting` intervals get none any more."""

    backfill: Backfill
    runs: list[CancelledRun]
    waiting: int


def page(
    deployment: Deployment,
    dag_id: str | None = None,
    limit: int | None = None,
    *,
    active: bool = False,
) -> Page[Backfill]:
    """Backfills, newest first. Raises `NotFound` for a DAG that does not exist."""
    with deployment.snapshot():
        if dag_id is not None:
            find_dag(deployment.conn, dag_id)
        return stored.page(deployment.conn, dag_id, limit, active=active)


def find(deployment: Deployment, backfill_id: int | None) -> Backfill:
    """A backfill; for None the only active one. Raises `NotFound` and `UsageError`."""
    return _find(deployment.conn, backfill_id)


def show(deployment: Deployment, backfill_id: int) -> Details:
    """A backfill with its intervals. Raises `NotFound`."""
    with deployment.snapshot():
        return _details(deployment.conn, backfill_id)


def follow(deployment: Deployment, backfill_id: int) -> Iterator[Details]:
    """Yield how a backfill is coming on, when something may have changed, until it has ended."""
    while True:
        seen = changes.counter(deployment.conn)
        details = show(deployment, backfill_id)
        yield details
        if details.backfill.ended_at is not None:
            return
        time.sleep(PACE if len(details.intervals) < MANY else PACE_OF_MANY)
        until_changed(deployment.conn, seen)


def pause(deployment: Deployment, backfill_id: int) -> Backfill:
    """Let a backfill start no more runs; those that run go on. Raises `Conflict` when it ended."""
    return _set(deployment, "backfills.pause", backfill_id, BackfillState.PAUSED)


def resume(deployment: Deployment, backfill_id: int) -> Backfill:
    """Let a paused backfill go on. Raises `Conflict` when it has ended."""
    return _set(deployment, "backfills.resume", backfill_id, BackfillState.RUNNING)


def cancel(
    deployment: Deployment, backfill_id: int, *, keep_running: bool = False, dry_run: bool = False
) -> CancelledBackfill:
    """Let a backfill make no more runs, and cancel those that it has under way.

    With `keep_running` these go on, and it ends with the last of them. Runs that have ended stay as
    they are. Raises `NotFound`, and `Conflict` when it has ended or was cancelled.
    """
    conn = deployment.conn
    with deployment.change("backfills.cancel") as change:
        before = _lock(conn, backfill_id)
        runs = []
        if not keep_running:
            locked = run_locks.lock(conn, backfills.under_way(conn, backfill_id))
            active = [one for one in locked if RunState(one.state) not in FINISHED_RUNS]
            runs = end_now(conn, change, active, dry_run=dry_run)
        if not dry_run:
            backfills.set_state(conn, backfill_id, BackfillState.CANCELLED)
            backfill_turns.end(conn, [backfill_id])
            change.log(
                f"{before.dag_id}/backfill:{backfill_id}",
                {"state": before.state},
                {"state": BackfillState.CANCELLED.value, "keep_running": keep_running},
            )
        now = _find(conn, backfill_id)
    queued = sum(one.before is RunState.QUEUED for one in runs)
    return CancelledBackfill(now, runs, before.waiting - queued)


def _set(deployment: Deployment, verb: str, backfill_id: int, state: BackfillState) -> Backfill:
    conn = deployment.conn
    with deployment.change(verb) as change:
        before = _lock(conn, backfill_id)
        if before.state != state.value:
            backfills.set_state(conn, backfill_id, state)
            wakeups.wake_named(conn, [("dag", before.dag_id)])
            target = f"{before.dag_id}/backfill:{backfill_id}"
            change.log(target, {"state": before.state}, {"state": state.value})
            change.tell(notify.WAKE)
        return _find(conn, backfill_id)


def _lock(conn: Conn, backfill_id: int) -> Backfill:
    """A backfill that can still be changed, with its DAG held."""
    found = _find(conn, backfill_id)
    find_dags(conn, [found.dag_id], lock=True)
    _find(conn, backfill_id)  # it may have been deleted with the history of its DAG
    state = backfills.lock(conn, backfill_id).state
    if state in (BackfillState.CANCELLED, BackfillState.DONE):
        said = "was cancelled" if state is BackfillState.CANCELLED else "is done"
        raise Conflict(
            f"backfill {backfill_id} of DAG {found.dag_id!r} {said}",
            f"see what became of it: flow backfills show {backfill_id}",
        )
    return _find(conn, backfill_id)


def _find(conn: Conn, backfill_id: int | None) -> Backfill:
    if backfill_id is None:
        backfill_id = _only_active(conn)
    found = stored.one(conn, backfill_id)
    if found is None:
        raise NotFound(f"there is no backfill {backfill_id}", "`flow backfills list` shows all")
    return found


def _only_active(conn: Conn) -> int:
    ids = stored.active_ids(conn)
    if not ids:
        raise NotFound("no backfill is active", "`flow backfills list` shows all that there were")
    if len(ids) > 1:
        named = ", ".join(map(str, ids[:10]))
        raise UsageError(f"{len(ids)} backfills are active", f"name one by its id: {named}")
    return ids[0]


def _details(conn: Conn, backfill_id: int) -> Details:
    found = _find(conn, backfill_id)
    zone = load_zone(find_dag(conn, found.dag_id).timezone)
    intervals = [
        one._replace(
            data_interval_start=one.data_interval_start.astimezone(zone),
            data_interval_end=one.data_interval_end.astimezone(zone),
        )
        for one in stored.intervals(conn, backfill_id)
    ]
    here = found._replace(start=found.start.astimezone(zone), end=found.end.astimezone(zone))
    return Details(here, intervals)
