"""Setting the verdict of task instances by hand, under the locks of their runs and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from flow.decide.reason import Code
from flow.states import RunState, TaskState
from flow.store import stopping
from flow.store.connect import Conn
from flow.store.instances import Key, keys

Table = Literal["hot", "history"]
"""Where the rows of a run are: hot while it is unfinished."""


class Mark(NamedTuple):
    """A verdict to write, as a compare-and-set on `expected`."""

    key: Key
    expected: TaskState
    state: TaskState


# The claim grows where somebody holds the task or may come back to it: what they say later no
# longer counts. What ran and is not running now ended when its last try did, whatever is said of it
# later: how long it took stays true. Its tries, by the prefix of their primary key.
_MARK = {
    table: f"""
update task_{table} t set state = m.state, reason = %(reason)s, reason_code = %(code)s,
  worker = null, due_at = null, keeps_slot = false,
  claim = t.claim + (t.state in ('running', 'restarting', 'deferred', 'up_for_reschedule',
    'awaiting_input'))::int,
  ended_at = coalesce(
    case when t.started_at is not null then (
      select max(y.ended_at) from try_{table} y
      where y.run_key = t.run_key and y.task_id = t.task_id and y.map_path = t.map_path
      having bool_and(y.ended_at is not null)) end,
    clock_timestamp())
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[],
    %(expected)s::text[], %(states)s::text[])
  as m(run_key, task_id, map_path, expected, state)
where t.run_key = m.run_key and t.task_id = m.task_id and t.map_path = m.map_path::int[]
  and t.state = m.expected
"""
    for table in ("hot", "history")
}

_CLOSE_TRIES = """
update try_hot t set state = m.state, reason = %(reason)s, ended_at = clock_timestamp()
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[], %(states)s::text[])
  as m(run_key, task_id, map_path, state)
where t.run_key = m.run_key and t.task_id = m.task_id and t.map_path = m.map_path::int[]
  and t.ended_at is null
"""

_JUDGE = """
update run r set state = v.state, reason = %(reason)s, reason_code = %(code)s
from unnest(%(run_keys)s::bigint[], %(states)s::text[]) as v(run_key, state)
where r.run_key = v.run_key and r.state in ('success', 'failed')
"""


def mark(
    conn: Conn, marks: Sequence[Mark], reason: str, table: Table, code: Code | None = None
) -> int:
    """Write verdicts into rows, take the tasks from whoever holds them, close their open tries.

    `code` is that of the reason. Returns how many rows were in the state they were expected in.
    """
    if not marks:
        return 0
    marked = [one.key for one in marks]
    states = [one.state.value for one in marks]
    asked = {**keys(marked), "states": states, "reason": reason, "code": code}
    if table == "hot":
        stopping.add(conn, marked)
    expected = [one.expected.value for one in marks]
    changed = conn.execute(_MARK[table], {**asked, "expected": expected}).rowcount
    if table == "hot":
        conn.execute(_CLOSE_TRIES, asked)
    return changed


def judge(conn: Conn, verdicts: dict[int, RunState], reason: str, code: Code) -> None:
    """Write new verdicts of finished runs, by run_key."""
    if verdicts:
        states = [state.value for state in verdicts.values()]
        values = {
            "run_keys": list(verdicts),
            "states": states,
            "reason": reason,
            "code": code,
        }
        conn.execute(_JUDGE, values)
