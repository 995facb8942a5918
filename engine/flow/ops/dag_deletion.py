"""`flow dags delete`: a DAG disappears with its history, or begins anew without it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from flow.errors import Conflict
from flow.graph.plan import cursor_from_now, plan
from flow.logs.files import dag_folder
from flow.ops.deleting import being_stopped, require_ended
from flow.ops.deployment import Change, Deployment
from flow.ops.references import find_dag, find_dags, load_spec
from flow.states import RunState
from flow.store import clock, dag_intervals, deleting, run_locks, schedule, stopping
from flow.store.connect import Conn
from flow.store.deleting import Ended, OldRun
from flow.store.read import dags
from flow.store.read.dags import StoredDag
from flow.timetables.zone import load_zone

RUNS_AT_ONCE: Final = 1_000
"""Runs of one transaction at most, …"""
TASKS_AT_ONCE: Final = 25_000
"""… and task instances, unless a single run has more: it holds no snapshot for long."""

_LONGEST_ENDING: Final = timedelta(minutes=5)
"""How long a transaction that ends a run may take at most to commit."""


class Deletion(NamedTuple):
    """What is deleted, or would be.

    `runs` are counted by state, `first_start` and `last_start` are starts of intervals in the DAG's
    time zone. With `begins_anew` the DAG stays, with its latest version, which is not among
    `versions`. `logs` is the folder of the logs, which stay.
    """

    dag_id: str
    file: str
    begins_anew: bool
    runs: dict[RunState, int]
    first_start: datetime | None
    last_start: datetime | None
    versions: int
    backfills: int
    logs: str

    @property
    def run_count(self) -> int:
        """How many runs go."""
        return sum(self.runs.values())


def preview(deployment: Deployment, dag_id: str, *, begin_anew: bool = False) -> Deletion:
    """What deleting would do now. Raises what `delete` does, before it begins."""
    return _look(deployment, dag_id, begin_anew=begin_anew).deletion


def delete(
    deployment: Deployment,
    dag_id: str,
    confirmed: Deletion | None = None,
    *,
    begin_anew: bool = False,
    advance: Callable[[int], None] = lambda done: None,
) -> Deletion:
    """Delete a DAG that its file does not define any more: runs, versions, backfills, itself.

    With `begin_anew` one that its file defines, and that is paused: it stays, in its latest
    version, and its schedule begins as that of a new DAG. The oldest runs go first; a long history
    takes several transactions, each of which is a whole number of runs and has its audit entry.
    When something gets in the way between two of them, what is left is a DAG with less history.
    The history is counted before the DAG is locked: with `confirmed`, what somebody has agreed to,
    that is done, or nothing. `advance` is told how many runs are gone. Raises `NotFound`, and
    `Conflict` where the DAG is not like that, has runs or backfills that have not ended, and when
    something else than `confirmed` would be done.
    """
    conn = deployment.conn
    seen = _look(deployment, dag_id, begin_anew=begin_anew)
    if confirmed is not None and seen.deletion != confirmed:
        raise _changed(dag_id)
    certain = confirmed is None
    after: OldRun | None = None
    gone = 0
    while True:
        with deployment.change("dags.delete") as change:
            deleting.claim(conn, dag_id)
            (dag,) = find_dags(conn, [dag_id])
            _require_deletable(conn, dag, begin_anew=begin_anew)
            if not certain and not _is_as_seen(conn, dag, seen):
                raise _changed(dag_id)
            certain = True
            batch = _delete_oldest(conn, dag_id, after)
            # What came in behind this look is seen by the next one, which begins with the oldest.
            last = after is None and batch.whole
            if last:
                _end(conn, dag, begin_anew=begin_anew)
            if batch.runs or last:
                _log(change, seen.deletion, batch, last=last)
        gone += len(batch.runs)
        advance(gone)
        if last:
            return seen.deletion
        after = None if batch.whole else batch.runs[-1]


class _Seen(NamedTuple):
    """What would be deleted, and by what it is cheaply seen that this has changed."""

    deletion: Deletion
    version: int
    since: datetime
    ended: Ended
    """The runs that have ended since then."""


class _Batch(NamedTuple):
    """Runs that are gone, with so many task instances; `whole`: no other was behind them."""

    runs: list[OldRun]
    tasks: int
    whole: bool


def _require_deletable(conn: Conn, dag: StoredDag, *, begin_anew: bool) -> None:
    dag_id = dag.dag_id
    if begin_anew:
        _require_to_begin_anew(dag)
    elif dag.present:
        one = dags.one(conn, dag_id)
        assert one is not None  # found in the same transaction
        raise Conflict(
            f"{one.file} defines DAG {dag_id!r}, so it is not deleted: it would come back",
            f"take it out of that file first; or flow dags pause {dag_id}; or delete its history "
            "alone: --begin-anew",
        )
    unfinished = deleting.unfinished(conn, dag_id)
    if unfinished:
        raise Conflict(
            f"{unfinished} runs of DAG {dag_id!r} have not ended"
            if unfinished > 1
            else f"a run of DAG {dag_id!r} has not ended",
            f"cancel first: flow runs cancel {dag_id} --where state=queued,running",
        )
    backfill = deleting.active_backfill(conn, dag_id)
    if backfill is not None:
        raise Conflict(
            f"backfill {backfill} of DAG {dag_id!r} has not ended",
            f"cancel it first: flow backfills cancel {backfill}",
        )
    stopped = stopping.of_dag(conn, dag_id)
    if stopped is not None:
        raise being_stopped(stopped)


def _require_to_begin_anew(dag: StoredDag) -> None:
    if not dag.present:
        raise Conflict(
            f"DAG {dag.dag_id!r} is not in its file any more, so it cannot begin anew",
            "leave out --begin-anew",
        )
    if not dag.paused:
        raise Conflict(
            f"DAG {dag.dag_id!r} is not paused, so runs of it could be made meanwhile",
            f"pause it first: flow dags pause {dag.dag_id}",
        )


def _look(deployment: Deployment, dag_id: str, *, begin_anew: bool) -> _Seen:
    conn = deployment.conn
    with deployment.snapshot():
        dag = find_dag(conn, dag_id)
        _require_deletable(conn, dag, begin_anew=begin_anew)
        deletion = _count(deployment, dag, begin_anew=begin_anew)
        since = clock.now(conn) - _LONGEST_ENDING
        return _Seen(deletion, dag.version, since, deleting.ended(conn, dag_id, since))


def _count(deployment: Deployment, dag: StoredDag, *, begin_anew: bool) -> Deletion:
    """All that is kept of a DAG: this reads its whole history."""
    conn, zone = deployment.conn, load_zone(dag.timezone)
    kept = deleting.kept(conn, dag.dag_id)
    shown = dags.one(conn, dag.dag_id)
    assert shown is not None  # found in the same transaction
    return Deletion(
        dag_id=dag.dag_id,
        file=shown.file,
        begins_anew=begin_anew,
        runs=kept.runs,
        first_start=kept.first and kept.first.astimezone(zone),
        last_start=kept.last and kept.last.astimezone(zone),
        versions=kept.versions - begin_anew,
        backfills=kept.backfills,
        logs=str(dag_folder(deployment.settings.logs.root, dag.dag_id)),
    )


def _is_as_seen(conn: Conn, dag: StoredDag, seen: _Seen) -> bool:
    """Whether no run has ended since, none of them again, and there is no other version."""
    ended = deleting.ended(conn, dag.dag_id, seen.since)
    return (dag.version, ended) == (seen.version, seen.ended)


def _changed(dag_id: str) -> Conflict:
    return Conflict(
        f"DAG {dag_id!r} is not as it was shown any more",
        "look again; with --yes it is deleted as it is at that moment",
    )


def _delete_oldest(conn: Conn, dag_id: str, after: OldRun | None) -> _Batch:
    """Delete as many runs behind one as fit into one transaction, and at least one."""
    found = deleting.oldest(conn, dag_id, after, RUNS_AT_ONCE)
    sizes = deleting.tasks(conn, [one.run_key for one in found])
    runs: list[OldRun] = []
    tasks = 0
    for one in found:
        size = sizes.get(one.run_key, 0)
        if runs and tasks + size > TASKS_AT_ONCE:
            break
        runs.append(one)
        tasks += size
    if runs:
        # A clear may have put one of them back into the queue since the DAG was looked at.
        require_ended(conn, run_locks.lock(conn, [one.run_key for one in runs]))
        deleting.delete(conn, [one.run_key for one in runs])
    return _Batch(runs, tasks, len(runs) == len(found) < RUNS_AT_ONCE)


def _end(conn: Conn, dag: StoredDag, *, begin_anew: bool) -> None:
    """Delete what is kept of a DAG without runs, or let it begin anew."""
    deleting.forget(conn, dag.dag_id, dag.version if begin_anew else None)
    if begin_anew:
        _begin_anew(conn, dag)
    else:
        deleting.drop(conn, dag.dag_id)


def _log(change: Change, planned: Deletion, batch: _Batch, *, last: bool) -> None:
    """Say what one transaction has deleted; the last one, all that is kept beside runs too."""
    before: dict[str, object] = {"runs": len(batch.runs), "tasks": batch.tasks}
    if last:
        before |= {
            "file": planned.file,
            "versions": planned.versions,
            "backfills": planned.backfills,
        }
    anew = last and planned.begins_anew
    change.log(planned.dag_id, before, {"begins_anew": True} if anew else None)


def _begin_anew(conn: Conn, dag: StoredDag) -> None:
    spec = dag_intervals.completed(conn, load_spec(conn, dag.spec_hash))
    now = clock.now(conn)
    cursor = cursor_from_now(spec, None, now)
    schedule.move(conn, [schedule.position(dag.dag_id, cursor, plan(spec, cursor, now))])
