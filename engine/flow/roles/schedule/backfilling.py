"""Backfills move on: intervals whose turn has come get their runs, and what is over ends.

Part of arrow 1, under the lock of the DAG, whenever that was woken: when a backfill was made or
goes on, and when a run has ended. In a few statements, whatever the number of backfills and
intervals. A backfill has its own limit of running runs; that of the DAG does not count them.
What is done so to a run that was there, and the end, is audited as done for who made the backfill.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from flow.decide.backfill import Action, Existing, turn_now
from flow.states import BackfillState, RunState, RunType, TaskState
from flow.store import (
    audit,
    backfill_turns,
    clearing,
    instances,
    past,
    run_locks,
    runs,
    stopping,
    wakeups,
)
from flow.store.audit import Entry
from flow.store.backfill_turns import ActiveBackfill, OpenInterval, UnderWay
from flow.store.connect import Conn
from flow.store.instances import Instance, Key
from flow.store.run_locks import LockedRun
from flow.store.runs import StartedRun
from flow.timetables.zone import as_utc

REASON = "cleared by backfill"
"""How the reason of tasks begins that a backfill has cleared."""


class _Step(NamedTuple):
    """What is done about intervals whose turn has come."""

    create: list[tuple[OpenInterval, str]]
    clear: list[OpenInterval]
    leave: list[tuple[OpenInterval, str]]


def advance(conn: Conn, dag_ids: Sequence[str]) -> list[StartedRun]:
    """Give the backfills of locked DAGs the runs that they have room for; those that start now."""
    active = backfill_turns.lock(conn, dag_ids) if dag_ids else []
    if not active:
        return []
    counts = backfill_turns.under_way(conn, [one.backfill_id for one in active])
    room = {one.backfill_id: _room(one, counts) for one in active}
    _take_turns(conn, active, counts, room)
    started = backfill_turns.start(conn, room)
    ended = backfill_turns.end(conn, [one.backfill_id for one in active])
    audit.record(
        conn,
        [
            Entry(
                "backfill",
                f"{one.dag_id}/backfill:{one.backfill_id}",
                {"state": one.state.value, "ended": False},
                {"state": ended[one.backfill_id].value, "ended": True},
                one.created_by,
            )
            for one in active
            if one.backfill_id in ended
        ],
    )
    return started


def _room(one: ActiveBackfill, counts: Mapping[int, UnderWay]) -> int:
    """How many of its runs may start."""
    if one.state is BackfillState.PAUSED:
        return 0
    return one.max_active_runs - counts.get(one.backfill_id, UnderWay()).running


def _take_turns(
    conn: Conn,
    active: Sequence[ActiveBackfill],
    counts: Mapping[int, UnderWay],
    room: Mapping[int, int],
) -> None:
    """Put the runs of the next intervals into the queue, as many as can start after those there."""
    wanted = {
        one.backfill_id: room[one.backfill_id] - counts.get(one.backfill_id, UnderWay()).queued
        for one in active
        if one.state is BackfillState.RUNNING and one.present
    }
    intervals = backfill_turns.next_intervals(conn, wanted)
    if not intervals:
        return
    by_id = {one.backfill_id: one for one in active}
    held = _hold(conn, intervals)
    step = _decide(intervals, by_id, held)
    made = backfill_turns.create(conn, step.create)
    late = [(one, "it has got a run since") for one, _ in step.create if one.key not in made]
    _clear(conn, step.clear, by_id, held)
    backfill_turns.leave(conn, step.leave + late)
    # What was left alone has taken no room: others may have their turn.
    left = {by_id[one.backfill_id].dag_id for one, _ in step.leave + late}
    wakeups.wake_named(conn, [("dag", dag_id) for dag_id in sorted(left)])


def _hold(conn: Conn, intervals: Sequence[OpenInterval]) -> dict[int, LockedRun]:
    """The runs that intervals have, locked."""
    run_keys = [one.run_key for one in intervals if one.run_key is not None]
    return {run.run_key: run for run in run_locks.lock(conn, run_keys)} if run_keys else {}


def _decide(
    intervals: Sequence[OpenInterval],
    active: Mapping[int, ActiveBackfill],
    held: Mapping[int, LockedRun],
) -> _Step:
    step = _Step([], [], [])
    for one in intervals:
        run = None if one.run_key is None else held.get(one.run_key)
        existing = run and Existing(run.run_id, RunState(run.state), run.archived)
        turn = turn_now(one.action, existing, active[one.backfill_id].reprocess)
        match turn.action:
            case Action.CREATE:
                run_id = f"{RunType.BACKFILL}__{as_utc(one.start).isoformat()}"
                step.create.append((one, run_id))
            case Action.CLEAR:
                step.clear.append(one)
            case Action.SKIP:
                step.leave.append((one, turn.note or ""))
    return step


def _clear(
    conn: Conn,
    intervals: Sequence[OpenInterval],
    active: Mapping[int, ActiveBackfill],
    held: Mapping[int, LockedRun],
) -> None:
    """Put ended runs, which are held, back into the queue, and open the tasks that are selected.

    One whose process is still being stopped has to wait for its death, as after any clear.
    """
    if not intervals:
        return
    owners = {one.run_key: active[one.backfill_id] for one in intervals if one.run_key is not None}
    runs.reopen(conn, list(owners))
    versions = backfill_turns.adopt(conn, intervals)
    dying = stopping.of_runs(conn, list(owners))
    chosen = {
        run_key: [row for row in rows if _is_selected(row.task_id, owners[run_key].tasks)]
        for run_key, rows in instances.read(conn, list(owners)).items()
    }
    cleared = [row for rows in chosen.values() for row in rows]
    restarts = {row.key: dying[row.key] for row in cleared if row.key in dying}
    clearing.restart(conn, restarts, REASON)
    clearing.clear(conn, [row for row in cleared if row.key not in dying], REASON)
    past.wake_followers(conn, [(run_key, None) for run_key in owners])
    audit.record(
        conn,
        [
            _entry(owner, held[run_key], versions[run_key], chosen[run_key], dying)
            for run_key, owner in owners.items()
        ],
    )


def _entry(
    owner: ActiveBackfill,
    before: LockedRun,
    version: int,
    cleared: Sequence[Instance],
    dying: Collection[Key],
) -> Entry:
    """What a backfill has done to a run, in the words of `flow clear`."""
    after = {
        row.reference: TaskState.RESTARTING if row.key in dying else TaskState.NONE
        for row in cleared
    }
    return Entry(
        "clear",
        f"{before.dag_id}/{before.run_id}",
        {
            "state": before.state,
            "version": before.version,
            "tasks": {row.reference: row.state for row in cleared},
        },
        {
            "state": RunState.QUEUED.value,
            "version": version,
            "tasks": {name: state.value for name, state in after.items()},
            "backfill": owner.backfill_id,
        },
        owner.created_by,
    )


def _is_selected(task_id: str, tasks: Collection[str] | None) -> bool:
    return tasks is None or task_id in tasks
