"""Holding tasks and pausing runs: what waits starts no more, what runs goes on.

The callers hold the runs, and have waited for admissions that were under way (`gates.freeze`): one
that has read its candidates before would queue them in spite of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from flow.store.connect import Conn
from flow.store.instances import Key, keys

# What is queued goes back to its place in the line for its pool, with the number of its next try.
_HOLD = """
update task_hot t set held = true,
  state = case t.state when 'queued' then 'scheduled' else t.state end,
  queued_at = case t.state when 'queued' then null else t.queued_at end,
  rank = case t.state when 'queued' then t.turn else t.rank end
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[])
  as k(run_key, task_id, map_path)
where t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = k.map_path::int[]
"""

_RELEASE = """
update task_hot t set held = false
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[])
  as k(run_key, task_id, map_path)
where t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = k.map_path::int[]
"""

# So that a decision asks for held tasks only where there are any.
_NOTE = """
update run r set holds = exists
  (select from task_hot t where t.run_key = r.run_key and t.held)
where r.run_key = any(%(run_keys)s::bigint[])
"""

# Primary key prefix, for runs that are known to have some.
_HELD = """
select run_key, task_id from task_hot where run_key = any(%(run_keys)s::bigint[]) and held
"""

_PAUSE = """
update run set paused = %(paused)s where run_key = any(%(run_keys)s::bigint[])
"""

_UNQUEUE = """
update task_hot set state = 'scheduled', queued_at = null, rank = turn
where run_key = any(%(run_keys)s::bigint[]) and state = 'queued'
"""


def hold(conn: Conn, instances: Sequence[Key]) -> None:
    """Let instances, whose rows the caller holds, not be queued until they are released."""
    if instances:
        conn.execute(_HOLD, keys(instances))
        _note(conn, instances)


def release(conn: Conn, instances: Sequence[Key]) -> None:
    """Let held instances be queued again."""
    if instances:
        conn.execute(_RELEASE, keys(instances))
        _note(conn, instances)


def _note(conn: Conn, instances: Sequence[Key]) -> None:
    conn.execute(_NOTE, {"run_keys": sorted({run_key for run_key, _, _ in instances})})


def held(conn: Conn, run_keys: Sequence[int]) -> dict[int, set[str]]:
    """The held tasks of runs, by run."""
    found: dict[int, set[str]] = {}
    if run_keys:
        for run_key, task_id in conn.execute(_HELD, {"run_keys": list(run_keys)}):
            found.setdefault(run_key, set()).add(task_id)
    return found


def pause(conn: Conn, run_keys: Sequence[int]) -> None:
    """Let nothing more of unfinished runs start; what is queued waits in its pool's line again."""
    if run_keys:
        conn.execute(_PAUSE, {"run_keys": list(run_keys), "paused": True})
        conn.execute(_UNQUEUE, {"run_keys": list(run_keys)})


def resume(conn: Conn, run_keys: Sequence[int]) -> None:
    """Let paused runs go on."""
    if run_keys:
        conn.execute(_PAUSE, {"run_keys": list(run_keys), "paused": False})
