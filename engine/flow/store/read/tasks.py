"""Task instances, their tries and their XComs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from flow.states import TaskState
from flow.store import arrays
from flow.store.connect import Conn
from flow.store.instances import Key
from flow.store.read.page import Page, Total, number, page_of


class Task(NamedTuple):
    """A task instance as lists show it.

    `map_index` is [] for a task that is not mapped. `worker` is host:pid of the process that holds
    it now. The store does not know `operator`; it comes from the graph.
    """

    dag_id: str
    run_id: str
    task_id: str
    map_index: list[int]
    state: str
    try_number: int
    max_tries: int
    pool: str
    pool_slots: int
    queue: str
    executor: str
    priority: int
    scheduled_at: datetime | None
    queued_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    worker: str | None
    operator: str | None
    held: bool


class Try(NamedTuple):
    """One try of a task instance. `worker` is host:pid of the process that started it."""

    try_number: int
    state: str
    started_at: datetime
    ended_at: datetime | None
    worker: str
    pid: int | None
    exit_code: int | None
    signal: int | None
    reason: str | None
    peak_rss_bytes: int | None
    cpu_s: float | None
    log: str | None
    code_hash: str | None = None
    """Of the file as the try imported it; with pinned code of its local modules too."""


class LastTry(NamedTuple):
    """The last try of a task instance of a run."""

    task_id: str
    map_index: list[int]
    last: Try


class XCom(NamedTuple):
    """One XCom of a try; `value` is JSON text."""

    task_id: str
    map_index: list[int]
    try_number: int
    key: str
    value: str
    created_at: datetime


class Unrun(NamedTuple):
    """A task instance that has not run since it was cleared, and its last try, of before that."""

    task_id: str
    map_index: list[int]
    try_number: int


class StateCount(NamedTuple):
    """How many instances of a task of a run are in a state."""

    run_key: int
    task_id: str
    state: str
    instances: int


_AFTER_RUN_ID = """t.task_id, t.map_path, t.state, t.try_number, t.max_tries, t.pool,
  t.pool_slots, t.queue, t.executor, t.priority, t.scheduled_at, t.queued_at, t.started_at,
  t.ended_at, p.host || ':' || p.pid, null, t.held"""

# Rows of one run; primary key prefix in the hot table and in one partition of the history.
_OF_RUN = f"""
select t.dag_id, %(run_id)s::text, {_AFTER_RUN_ID}
from task t left join process p on p.process_id = t.worker
where t.run_key = %(run_key)s order by t.task_id, t.map_path
"""

_OF_RUNS = f"""
select t.run_key, t.dag_id, r.run_id, {_AFTER_RUN_ID}
from task t join run r on r.run_key = t.run_key left join process p on p.process_id = t.worker
where t.run_key = any(%(run_keys)s::bigint[])
"""

_STATE = """
select state from task
where run_key = %(run_key)s and task_id = %(task_id)s and map_path = %(map_path)s::int[]
"""

_TRY = """t.try_number, t.state, t.started_at, t.ended_at,
  case when p.pid is null then t.host else t.host || ':' || p.pid end, t.pid, t.exit_code,
  t.signal, t.reason, t.peak_rss, t.cpu_time, t.log, t.code_hash"""

_TRIES = f"""
select {_TRY}
from try t left join process p on p.process_id = t.worker
where t.run_key = %(run_key)s and t.task_id = %(task_id)s and t.map_path = %(map_path)s::int[]
order by t.try_number
"""

# Primary key prefix, in its order.
_LAST_TRIES = f"""
select distinct on (t.task_id, t.map_path) t.task_id, t.map_path, {_TRY}
from try t left join process p on p.process_id = t.worker
where t.run_key = %(run_key)s order by t.task_id, t.map_path, t.try_number desc
"""

# A clear forgets when a task started; its tries stay. Primary key prefixes.
_UNRUN = """
select t.task_id, t.map_path, max(y.try_number)
from task t join try y
  on y.run_key = t.run_key and y.task_id = t.task_id and y.map_path = t.map_path
where t.run_key = %(run_key)s and t.started_at is null
  and (%(task_id)s::text is null or t.task_id = %(task_id)s)
group by t.task_id, t.map_path order by t.task_id, t.map_path
"""

# XComs belong to the try: without a number, those of the task's current or last one.
_MATCHING_XCOMS = """
from xcom x
where x.run_key = %(run_key)s
  and (%(task_id)s::text is null or x.task_id = %(task_id)s)
  and (%(map_path)s::int[] is null or x.map_path = %(map_path)s::int[])
  and (%(key)s::text is null or x.key = %(key)s)
  and x.try_number = coalesce(%(try_number)s::int, (select t.try_number from task t
    where t.run_key = x.run_key and t.task_id = x.task_id and t.map_path = x.map_path))
"""
_XCOMS = f"""
select x.task_id, x.map_path, x.try_number, x.key, x.value, x.created_at {_MATCHING_XCOMS}
order by x.task_id, x.map_path, x.key limit %(limit)s
"""
_COUNT_XCOMS = f"select count(*) {_MATCHING_XCOMS}"

_COUNTS = """
select run_key, task_id, state, count(*) from task
where run_key = any(%(run_keys)s::bigint[]) group by run_key, task_id, state
"""


def of_run(conn: Conn, run_key: int, run_id: str) -> list[Task]:
    """Every row of a run, in order of id; tasks in state none may have none."""
    rows = conn.execute(_OF_RUN, {"run_key": run_key, "run_id": run_id})
    return [Task._make(row) for row in rows]


def of_runs(conn: Conn, run_keys: Sequence[int]) -> dict[Key, Task]:
    """Every row of some runs."""
    rows = conn.execute(_OF_RUNS, {"run_keys": arrays.numbers(run_keys)})
    found = ((run_key, Task._make(row)) for run_key, *row in rows)
    return {(run_key, one.task_id, tuple(one.map_index)): one for run_key, one in found}


def state(conn: Conn, run_key: int, task_id: str, map_path: Sequence[int]) -> TaskState:
    """The state of a task instance; none where it has no row."""
    asked = {"run_key": run_key, "task_id": task_id, "map_path": list(map_path)}
    row = conn.execute(_STATE, asked).fetchone()
    return TaskState(row[0]) if row else TaskState.NONE


def tries(conn: Conn, run_key: int, task_id: str, map_path: Sequence[int]) -> list[Try]:
    """The tries of a task instance, first to last."""
    asked = {"run_key": run_key, "task_id": task_id, "map_path": list(map_path)}
    return [Try._make(row) for row in conn.execute(_TRIES, asked)]


def last_tries(conn: Conn, run_key: int) -> list[LastTry]:
    """The last try of each task instance of a run that has had one."""
    rows = conn.execute(_LAST_TRIES, {"run_key": run_key})
    return [LastTry(row[0], row[1], Try._make(row[2:])) for row in rows]


def unrun(conn: Conn, run_key: int, task_id: str | None = None) -> list[Unrun]:
    """Task instances of a run, or of one task of it, that ran before they were cleared only."""
    asked = {"run_key": run_key, "task_id": task_id}
    return [Unrun._make(row) for row in conn.execute(_UNRUN, asked)]


def xcoms(
    conn: Conn,
    run_key: int,
    *,
    task_id: str | None = None,
    map_path: Sequence[int] | None = None,
    key: str | None = None,
    try_number: int | None = None,
    limit: int | None = None,
) -> Page[XCom]:
    """XComs of a run, of all or one task; of its last try, or of a given one."""
    asked: dict[str, Any] = {
        "run_key": run_key,
        "task_id": task_id,
        "map_path": None if map_path is None else list(map_path),
        "key": key,
        "try_number": try_number,
        "limit": limit,
    }
    rows = [XCom._make(row) for row in conn.execute(_XCOMS, asked)]
    return page_of(rows, limit, lambda: Total(number(conn, _COUNT_XCOMS, asked)))


def counts(conn: Conn, run_keys: Sequence[int]) -> list[StateCount]:
    """Instances by run, task and state."""
    rows = conn.execute(_COUNTS, {"run_keys": list(run_keys)})
    return [StateCount._make(row) for row in rows]
