"""Ending runs by hand: cancelling them, or saying how they ended. They are locked already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flow.decide.reason import Code
from flow.ops.deployment import Change
from flow.ops.run_targets import Target, Targeted
from flow.states import OCCUPYING, RunState, TaskState
from flow.store import gates, marks, notify, past, runs, tasks, wakeups
from flow.store.connect import Conn
from flow.store.marks import Mark, Table
from flow.store.runs import EndedRun
from flow.store.tasks import NewTask


class Ending(NamedTuple):
    """What becomes of a run, and of those of its tasks that change."""

    of: Targeted
    state: RunState
    changes: list[tuple[Target, TaskState]]


def write(conn: Conn, endings: Sequence[Ending], reason: str, code: Code) -> None:
    """Give runs their verdicts: unfinished ones end, finished ones have another one from now on."""
    change_tasks(conn, [(one.of, one.changes) for one in endings], reason, code)
    runs.end(
        conn,
        [
            EndedRun(one.of.run.run_key, one.of.run.dag_id, one.state, reason, code)
            for one in endings
            if not one.of.finished
        ],
    )
    judged = {one.of.run.run_key: one.state for one in endings if one.of.finished}
    marks.judge(conn, judged, reason, code)


def change_tasks(
    conn: Conn,
    changes: Sequence[tuple[Targeted, Sequence[tuple[Target, TaskState]]]],
    reason: str,
    code: Code,
) -> None:
    """Write states of tasks of locked runs; those that have no row get one."""
    tables: tuple[tuple[Table, bool], ...] = (("hot", False), ("history", True))
    for table, finished in tables:
        written = [
            Mark(target.key, target.before, state)
            for of, targets in changes
            if of.finished is finished
            for target, state in targets
            if target.has_row
        ]
        changed = marks.mark(conn, written, reason, table, code)
        assert changed == len(written)  # their rows are locked
    tasks.insert(
        conn,
        [
            NewTask(
                of.run.run_key,
                of.run.dag_id,
                of.graph.tasks[target.key[1]],
                state,
                reason,
                code=code,
            )
            for of, targets in changes
            for target, state in targets
            if not target.has_row
        ],
    )


def wake(conn: Conn, change: Change, endings: Sequence[Ending]) -> None:
    """Let schedulers use the room that became free, in DAGs and pools; wake runs that waited."""
    past.wake_followers(conn, [(one.of.run.run_key, None) for one in endings])
    gates.wake_freed(
        conn,
        {target.pool for one in endings for target, _ in one.changes if target.before in OCCUPYING},
    )
    wakeups.wake_named(conn, sorted({("dag", one.of.run.dag_id) for one in endings}))
    change.tell(notify.STOP)
    change.tell(notify.WAKE)
