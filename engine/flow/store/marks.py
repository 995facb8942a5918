"""Setting the verdict of task instances by hand, under the lock of their run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from flow.states import RunState, TaskState
from flow.store import arrays, stopping
from flow.store.connect import Conn

Table = Literal["hot", "history"]
"""Where the rows of the run are: hot while it is unfinished."""


class Instance(NamedTuple):
    """A task instance whose row this transaction holds."""

    task_id: str
    map_path: tuple[int, ...]
    state: str
    pool: str


class Mark(NamedTuple):
    """A verdict to write, as a compare-and-set on `expected`."""

    task_id: str
    map_path: tuple[int, ...]
    expected: TaskState


# Rows are locked against the report of a worker, which takes only the row's own lock.
_LOCK_TASKS = {
    table: f"""
select task_id, map_path, state, pool from task_{table}
where run_key = %(run_key)s and task_id = any(%(task_ids)s::text[])
order by task_id, map_path for update
"""
    for table in ("hot", "history")
}

# The claim grows where somebody holds the task or may come back to it: what they say later no
# longer counts.
_MARK = {
    table: f"""
update task_{table} t set state = %(state)s, reason = %(reason)s, worker = null, due_at = null,
  keeps_slot = false,
  claim = t.claim + (t.state in ('running', 'restarting', 'deferred', 'up_for_reschedule',
    'awaiting_input'))::int,
  ended_at = clock_timestamp()
from unnest(%(task_ids)s::text[], %(paths)s::text[], %(expected)s::text[])
  as m(task_id, map_path, expected)
where t.run_key = %(run_key)s and t.task_id = m.task_id and t.map_path = m.map_path::int[]
  and t.state = m.expected
"""
    for table in ("hot", "history")
}

_CLOSE_TRIES = """
update try_hot t set state = %(state)s, reason = %(reason)s, ended_at = clock_timestamp()
from unnest(%(task_ids)s::text[], %(paths)s::text[]) as m(task_id, map_path)
where t.run_key = %(run_key)s and t.task_id = m.task_id and t.map_path = m.map_path::int[]
  and t.ended_at is null
"""

_JUDGE = """
update run set state = %(state)s, reason = %(reason)s
where run_key = %(run_key)s and state in ('success', 'failed')
"""

_STATES = {
    table: f"select task_id, state from task_{table} where run_key = %(run_key)s "
    "and map_path = '{}'"
    for table in ("hot", "history")
}


def lock_tasks(conn: Conn, run_key: int, task_ids: Sequence[str], table: Table) -> list[Instance]:
    """Lock the rows of some tasks of a run; a task without a row is left out."""
    rows = conn.execute(_LOCK_TASKS[table], {"run_key": run_key, "task_ids": list(task_ids)})
    return [Instance(task_id, tuple(path), state, pool) for task_id, path, state, pool in rows]


def mark(
    conn: Conn, run_key: int, marks: Sequence[Mark], state: TaskState, reason: str, table: Table
) -> int:
    """Write a verdict into rows, take the tasks from whoever holds them, close their open tries.

    Returns how many rows were in the state they were expected in.
    """
    if not marks:
        return 0
    asked = {
        "run_key": run_key,
        "state": state.value,
        "reason": reason,
        "task_ids": [one.task_id for one in marks],
        "paths": [arrays.path(one.map_path) for one in marks],
    }
    expected = [one.expected.value for one in marks]
    if table == "hot":
        stopping.add(conn, [(run_key, one.task_id, one.map_path) for one in marks])
    changed = conn.execute(_MARK[table], {**asked, "expected": expected}).rowcount
    if table == "hot":
        conn.execute(_CLOSE_TRIES, asked)
    return changed


def states(conn: Conn, run_key: int, table: Table) -> dict[str, TaskState]:
    """The states of a run's tasks; a task without a row is absent."""
    rows = conn.execute(_STATES[table], {"run_key": run_key})
    return {task_id: TaskState(state) for task_id, state in rows}


def judge(conn: Conn, run_key: int, state: RunState, reason: str) -> None:
    """Write a new verdict of a finished run."""
    conn.execute(_JUDGE, {"run_key": run_key, "state": state.value, "reason": reason})
