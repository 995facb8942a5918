"""What a clear writes: in as many statements for one run as for a thousand."""

from __future__ import annotations

from collections.abc import Sequence

from flow.ops.clear_plan import Cleared, Planned
from flow.ops.deployment import Change
from flow.ops.task_references import TaskReference
from flow.states import TaskState
from flow.store import audit, clearing, gates, marks, notify, past, runs, tasks, wakeups
from flow.store.connect import Conn
from flow.store.marks import Mark


def write(conn: Conn, planned: Sequence[Planned]) -> None:
    """Change the rows of runs that the caller holds, and wake whom that concerns."""
    reason = f"cleared by {audit.os_user()}"
    runs.reopen(conn, [one.found.run_key for one in planned if one.finished])
    moved = [one for one in planned if one.shown.version != one.shown.version_before]
    runs.repin(conn, {one.found.run_key: one.shown.version for one in moved})
    narrow = [one for one in planned if one.found.selected is not None]
    runs.select(conn, ((one.found.run_key, id) for one in narrow for id in _opened(one)))
    restarts = {key: worker for one in planned for key, worker in one.restarts.items()}
    cleared = (one for run in planned for one in run.instances)
    clearing.restart(conn, restarts, reason)
    clearing.clear(conn, [one for one in cleared if one.key not in restarts], reason)
    _drop(conn, moved)
    tasks.renew(conn, [waiting for run in moved for waiting in run.waiting])
    _wake(conn, planned)


def announce(change: Change, planned: Sequence[Planned]) -> None:
    """Note an audit entry for each run, and whom to tell after the commit."""
    for one in planned:
        shown = one.shown
        states = {_name(task): task.before.value for task in (*shown.tasks, *shown.dropped)}
        after = {_name(task): task.after.value for task in (*shown.tasks, *shown.dropped)}
        change.log(
            f"{shown.dag_id}/{shown.run_id}",
            {"state": shown.before.value, "version": shown.version_before, "tasks": states},
            {"state": shown.after.value, "version": shown.version, "tasks": after},
        )
    change.tell(notify.STOP)
    change.tell(notify.WAKE)


def _opened(run: Planned) -> set[str]:
    """Tasks that are to run, in a run that was made for some only."""
    return {one.task_id for one in run.instances} | set(run.shown.added)


def _drop(conn: Conn, moved: Sequence[Planned]) -> None:
    """End what the new versions of unfinished runs do not have."""
    dropped = [
        Mark(one.key, TaskState(one.state), TaskState.SKIPPED)
        for run in moved
        for one in run.dropped
    ]
    marks.mark(conn, dropped, "the version that the run has now does not have this task", "hot")


def _wake(conn: Conn, planned: Sequence[Planned]) -> None:
    """Let schedulers start what is queued, see what follows, and hand out what became free."""
    past.wake_followers(conn, [(one.found.run_key, None) for one in planned])
    going_on = [one.found.run_key for one in planned if not one.finished]
    wakeups.wake_runs(conn, [(run_key, None, None) for run_key in going_on])
    gates.wake_freed(conn, (pool for one in planned for pool in one.freed))
    wakeups.wake_named(conn, sorted({("dag", one.found.run.dag_id) for one in planned}))


def _name(task: Cleared) -> str:
    return str(TaskReference(task.task_id, tuple(task.map_index)))
