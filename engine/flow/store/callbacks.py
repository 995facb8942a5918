"""Callbacks that need a process of their own, handed to workers like tasks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from flow.states import MAX_LOSSES
from flow.store import arrays
from flow.store.connect import Conn
from flow.store.tries import Claimed, Open


class NewCallback(NamedTuple):
    """A callback to run. Without a task id it is the run's own."""

    run_key: int
    dag_id: str
    kind: str
    reason: str
    executor: str
    queue: str
    task_id: str | None = None
    map_path: tuple[int, ...] = ()
    try_number: int = 0
    max_tries: int = 0


class GivenUp(NamedTuple):
    """A callback that went down with its worker too often. Without a task id it is the run's."""

    callback_id: int
    dag_id: str
    task_id: str | None
    kind: str
    reason: str


class LastTask(NamedTuple):
    """A task instance of a run that has had a try."""

    task_id: str
    map_path: tuple[int, ...]
    state: str
    try_number: int
    max_tries: int


class ClaimedCallback(NamedTuple):
    """A callback that a worker holds, with what its process has to know."""

    callback_id: int
    run_key: int
    task_id: str | None
    map_path: tuple[int, ...]
    try_number: int
    max_tries: int
    kind: str
    reason: str
    dag_id: str
    run_id: str
    run_type: str
    version: int
    logical_date: datetime
    data_interval_start: datetime
    data_interval_end: datetime
    run_after: datetime
    started_at: datetime | None
    conf: str
    file: str
    last: LastTask | None = None
    """Of the callbacks of a run: the task that it failed of, else the one that ended last."""


_ADD = """
insert into callback (run_key, dag_id, kind, reason, executor, queue, task_id, map_path,
  try_number, max_tries)
select run_key, dag_id, kind, reason, executor, queue, task_id, map_path::int[], try_number,
  max_tries
from unnest(%(run_key)s::bigint[], %(dag_id)s::text[], %(kind)s::text[], %(reason)s::text[],
    %(executor)s::text[], %(queue)s::text[], %(task_id)s::text[], %(map_path)s::text[],
    %(try_number)s::int[], %(max_tries)s::int[])
  as c(run_key, dag_id, kind, reason, executor, queue, task_id, map_path, try_number, max_tries)
"""

# Oldest first; index callback_waiting. Locks the rows it takes, and that of the worker: one that
# was taken for lost gets nothing, and none is taken for lost before the commit.
_CLAIM = """
with alive as materialized (
  select from process where process_id = %(worker)s and ended_at is null for share),
picked as materialized (
  select callback_id from callback
  where exists (select from alive) and worker is null and given_up is null
    and executor = %(executor)s and queue = any(%(queues)s::text[])
  order by callback_id limit %(limit)s for update skip locked),
taken as (
  update callback c set worker = %(worker)s from picked where c.callback_id = picked.callback_id
  returning c.*)
select t.callback_id, t.run_key, t.task_id, t.map_path, t.try_number, t.max_tries, t.kind,
  t.reason, t.dag_id, r.run_id, r.run_type, r.version, r.logical_date, r.data_interval_start,
  r.data_interval_end, r.run_after, r.started_at, r.conf, d.file
from taken t join run r on r.run_key = t.run_key join dag d on d.dag_id = t.dag_id
order by t.callback_id
"""

# Rows of one run; primary key prefixes of the hot table and of one partition of the history. What
# failed first is what a failed run failed of.
_LAST = """
select task_id, map_path, state, try_number, max_tries from task
where run_key = %(run_key)s and try_number > 0
order by case when %(kind)s = 'failure' and state = 'failed' then ended_at end nulls last,
  ended_at desc nulls last, task_id, map_path limit 1
"""

_DONE = "delete from callback where callback_id = %(id)s and worker = %(worker)s"

# Both by index callback_taken; the first without locks.
_HELD = "select callback_id from callback where worker = %(worker)s"
_RELEASE = """
update callback set worker = null, losses = losses + 1,
  given_up = case when losses >= %(most)s then %(reason)s end
where worker = %(worker)s and callback_id <> all(%(keep)s::bigint[])
returning callback_id, dag_id, task_id, kind, given_up
"""


def of_try(one: Claimed | Open, kind: str, reason: str) -> NewCallback:
    """The callback that a try is owed whose own process cannot run it."""
    return NewCallback(
        run_key=one.run_key,
        dag_id=one.dag_id,
        kind=kind,
        reason=reason,
        executor=one.executor,
        queue=one.queue,
        task_id=one.task_id,
        map_path=one.map_path,
        try_number=one.try_number,
        max_tries=one.max_tries,
    )


def add(conn: Conn, new: Sequence[NewCallback]) -> None:
    """Ask for callbacks to be run."""
    if new:
        conn.execute(
            _ADD,
            {
                "run_key": [one.run_key for one in new],
                "dag_id": [one.dag_id for one in new],
                "kind": [one.kind for one in new],
                "reason": [one.reason for one in new],
                "executor": [one.executor for one in new],
                "queue": [one.queue for one in new],
                "task_id": [one.task_id for one in new],
                "map_path": [arrays.path(one.map_path) for one in new],
                "try_number": [one.try_number for one in new],
                "max_tries": [one.max_tries for one in new],
            },
        )


def claim(
    conn: Conn, *, worker: int, executor: str, queues: Sequence[str], limit: int
) -> list[ClaimedCallback]:
    """Take up to `limit` callbacks for a worker, in the transaction in which it claims tasks."""
    rows = conn.execute(
        _CLAIM,
        {"worker": worker, "executor": executor, "queues": list(queues), "limit": limit},
    )
    claimed = [ClaimedCallback._make((*row[:3], tuple(row[3]), *row[4:], None)) for row in rows]
    return [
        one._replace(last=_last_task(conn, one)) if one.task_id is None else one for one in claimed
    ]


def done(conn: Conn, callback_id: int, worker: int) -> None:
    """Forget a callback that has run."""
    conn.execute(_DONE, {"id": callback_id, "worker": worker})


def held(conn: Conn, worker: int) -> set[int]:
    """Ids of the callbacks that a worker has claimed and not done."""
    return {row[0] for row in conn.execute(_HELD, {"worker": worker})}


def release(conn: Conn, worker: int, reason: str, keep: Collection[int] = ()) -> list[GivenUp]:
    """Free the callbacks of a worker that it has not run, but for those with the ids `keep`.

    One that has been freed like this `MAX_LOSSES` times before is given up for `reason`: what takes
    its workers down has to end. Returns those.
    """
    values = {
        "worker": worker,
        "keep": list(keep),
        "most": MAX_LOSSES,
        "reason": f"{MAX_LOSSES + 1} workers went down with it; the last: {reason}",
    }
    rows = conn.execute(_RELEASE, values)
    return [GivenUp._make(row) for row in rows if row[4] is not None]


def _last_task(conn: Conn, one: ClaimedCallback) -> LastTask | None:
    row = conn.execute(_LAST, {"run_key": one.run_key, "kind": one.kind}).fetchone()
    return LastTask(row[0], tuple(row[1]), *row[2:]) if row else None
