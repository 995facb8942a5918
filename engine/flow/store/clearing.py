"""Clearing task instances of many runs at once, under the locks of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flow.states import FINISHED
from flow.store import arrays
from flow.store.connect import Conn
from flow.store.instances import Instance, Key, keys

# The number of a try that never started is given again: nobody has seen it. The claim grows where
# somebody may come back to the task: what they say later no longer counts.
_CLEAR = """
update task_hot t set state = 'none', reason = %(reason)s, reason_code = null, losses = 0,
  skips = null, keeps_slot = false,
  try_number = t.try_number - (t.try_number > 0 and not exists (
    select from try_hot y where y.run_key = t.run_key and y.task_id = t.task_id
      and y.map_path = t.map_path and y.try_number = t.try_number))::int,
  claim = t.claim + (t.state in ('deferred', 'up_for_reschedule', 'awaiting_input'))::int,
  due_at = null, scheduled_at = null, queued_at = null, started_at = null, ended_at = null
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[])
  as k(run_key, task_id, map_path)
where t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = k.map_path::int[]
  and t.state not in ('none', 'running', 'restarting')
"""

# Tasks that wait or were put back in the course of a try: it ends here.
_CLOSE_TRIES = """
update try_hot y set state = 'restarted', reason = %(reason)s, ended_at = clock_timestamp()
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[])
  as k(run_key, task_id, map_path)
where y.run_key = k.run_key and y.task_id = k.task_id and y.map_path = k.map_path::int[]
  and y.ended_at is null
"""

# Tasks with a process that has to be dead first: their own, or one whose task was marked.
_RESTART = """
update task_hot t set state = 'restarting', reason = %(reason)s, reason_code = null,
  worker = coalesce(t.worker, k.worker), losses = 0, skips = null, ended_at = null
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[], %(paths)s::text[], %(workers)s::bigint[])
  as k(run_key, task_id, map_path, worker)
where t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = k.map_path::int[]
  and t.state <> 'restarting'
"""


def clear(conn: Conn, instances: Sequence[Instance], reason: str) -> None:
    """Set instances without a process to none, so that they are decided anew; end their tries."""
    if instances:
        conn.execute(_CLEAR, {**keys([one.key for one in instances]), "reason": reason})
    unfinished = [one.key for one in instances if one.state not in FINISHED]
    if unfinished:
        conn.execute(_CLOSE_TRIES, {**keys(unfinished), "reason": reason})


def restart(conn: Conn, instances: Mapping[Key, int | None], reason: str) -> None:
    """Set instances to restarting until a process is dead.

    Theirs, or where they do not run, one that is still being stopped by the worker given.
    """
    if instances:
        workers = arrays.numbers(instances.values())
        values = {**keys(list(instances)), "workers": workers}
        conn.execute(_RESTART, {**values, "reason": reason})
