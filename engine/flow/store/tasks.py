"""Task rows as the scheduler reads and writes them, under the lock of their run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from flow.decide.reason import Code
from flow.graph import TaskSpec
from flow.states import TaskState
from flow.store import arrays
from flow.store.connect import Conn
from flow.store.places import PLACES, Waiting, place


class TaskRow(NamedTuple):
    """What a decision reads of one task."""

    run_key: int
    task_id: str
    state: str
    due_at: datetime | None
    skips: list[str] | None


class NewTask(NamedTuple):
    """A task that gets its first row."""

    run_key: int
    dag_id: str
    spec: TaskSpec
    state: TaskState
    reason: str | None
    waiting: Waiting | None = None
    """Set where it begins to wait for a slot or for a worker."""
    code: Code | None = None
    """Of the reason."""


class MovedTask(NamedTuple):
    """A transition of a task that has a row."""

    run_key: int
    task_id: str
    expected: TaskState
    state: TaskState
    reason: str | None
    waiting: Waiting | None = None
    """Set where it begins to wait for a slot or for a worker."""
    code: Code | None = None
    """Of the reason."""


class StoppedTask(NamedTuple):
    """A running task whose worker is to end it."""

    run_key: int
    task_id: str
    reason: str


# All tasks of some runs; primary key prefix.
_READ_RUNS = """
select run_key, task_id, state, due_at, skips from task_hot
where run_key = any(%(run_keys)s::bigint[]) and map_path = '{}'
"""

# Some tasks of some runs; primary key, one probe each.
_READ_TASKS = """
select t.run_key, t.task_id, t.state, t.due_at, t.skips
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[]) as k(run_key, task_id)
join task_hot t on t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = '{}'
"""

# Tasks that chose to skip others; index task_skips, few rows.
_READ_SKIPS = """
select run_key, task_id, state, due_at, skips from task_hot
where run_key = any(%(run_keys)s::bigint[]) and skips is not null
"""

# Which runs have anything unfinished: one probe of index task_unfinished each, whatever their size.
_CENSUS = """
select k.run_key from unnest(%(run_keys)s::bigint[], %(dag_ids)s::text[]) as k(run_key, dag_id)
where exists (
  select from task_hot t where t.dag_id = k.dag_id and t.run_key = k.run_key and t.state not in
    ('success', 'failed', 'skipped', 'upstream_failed', 'removed', 'none'))
"""

# First rows of tasks. What most tasks of a batch have in common (pool, queue, retries, …) travels
# once per distinct combination, as a profile.
_INSERT = f"""
select add_tasks(%(run_key)s::bigint[], %(task_id)s::text[], %(dag_id)s::text[], %(state)s::text[],
  %(reason)s::text[], %(code)s::text[], %(profile)s::int[], %(max_tries)s::int[],
  %(pool)s::text[], %(pool_slots)s::int[], %(queue)s::text[], %(executor)s::text[],
  %(priority)s::int[], %(run_limit)s::int[], %(dag_limit)s::int[], %(retry_delay)s::float8[],
  %(retry_backoff)s::float8[], %(max_retry_delay)s::float8[], %(execution_timeout)s::float8[],
  %(stride)s::int[], %(flow)s::int[], %(behind)s::bigint[], {PLACES}, %(fresh)s)
"""

# Transitions of rows, as compare-and-set. A task scheduled for a new try gets the next number; one
# that only moves on (scheduled → queued, rescheduled → scheduled) keeps its own. One that begins to
# wait gets a place; a raised one that goes on stays in front.
_MOVE = f"""
with found as materialized (select {PLACES} as places)
update task_hot t set
  state = m.state,
  reason = m.reason,
  reason_code = m.code,
  try_number = t.try_number
    + (m.state in ('scheduled', 'queued') and m.expected in ('none', 'up_for_retry'))::int,
  due_at = null,
  stride = coalesce(m.stride, t.stride),
  rank = case when m.expected = 'scheduled' and t.rank < 0 then t.rank
    else coalesce(found.places[m.flow] + m.behind, t.rank) end,
  turn = case when m.state = 'scheduled' then coalesce(found.places[m.flow] + m.behind, 0)
    when m.expected = 'scheduled' then t.turn else 0 end,
  scheduled_at = case when m.state in ('scheduled', 'queued') and m.expected <> 'scheduled'
    then clock_timestamp() else t.scheduled_at end,
  queued_at = case when m.state = 'queued' then clock_timestamp()
    when m.state = 'scheduled' then null else t.queued_at end,
  ended_at = case when m.state in ('scheduled', 'queued') then null else clock_timestamp() end
from found, unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(expected)s::text[],
    %(state)s::text[], %(reason)s::text[], %(code)s::text[], %(stride)s::int[], %(flow)s::int[],
    %(behind)s::bigint[])
  as m(run_key, task_id, expected, state, reason, code, stride, flow, behind)
where t.run_key = m.run_key and t.task_id = m.task_id and t.map_path = '{{}}'
  and t.state = m.expected
"""

# The claim stays: the worker that holds it ends the process and then reports it as skipped.
_STOP = """
update task_hot t set stop_reason = s.reason
from unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(reason)s::text[])
  as s(run_key, task_id, reason)
where t.run_key = s.run_key and t.task_id = s.task_id and t.map_path = '{}'
  and t.state = 'running' and t.stop_reason is null
"""


# What a spec says of tasks that have rows. A task that was cleared gets a full new set of tries;
# its number grows only when it is scheduled. Writes nothing where nothing differs.
_RENEW = """
update task_hot t set
  max_tries = case t.state when 'none' then t.try_number + p.max_tries else t.max_tries end,
  pool = p.pool, pool_slots = p.pool_slots, queue = p.queue, executor = p.executor,
  priority = p.priority, run_limit = p.run_limit, dag_limit = p.dag_limit,
  retry_delay = p.retry_delay, retry_backoff = p.retry_backoff,
  max_retry_delay = p.max_retry_delay, execution_timeout = p.execution_timeout
from unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(profile)s::int[])
  as n(run_key, task_id, profile)
join unnest(%(max_tries)s::int[], %(pool)s::text[], %(pool_slots)s::int[], %(queue)s::text[],
    %(executor)s::text[], %(priority)s::int[], %(run_limit)s::int[], %(dag_limit)s::int[],
    %(retry_delay)s::float8[], %(retry_backoff)s::float8[], %(max_retry_delay)s::float8[],
    %(execution_timeout)s::float8[])
  with ordinality as p(max_tries, pool, pool_slots, queue, executor, priority, run_limit, dag_limit,
    retry_delay, retry_backoff, max_retry_delay, execution_timeout, profile)
  on p.profile = n.profile
where t.run_key = n.run_key and t.task_id = n.task_id and t.map_path = '{}'
  and (t.state = 'none' or (t.pool, t.pool_slots, t.queue, t.executor, t.priority, t.run_limit,
    t.dag_limit, t.retry_delay, t.retry_backoff, t.max_retry_delay, t.execution_timeout)
    is distinct from (p.pool, p.pool_slots, p.queue, p.executor, p.priority, p.run_limit,
    p.dag_limit, p.retry_delay, p.retry_backoff, p.max_retry_delay, p.execution_timeout))
"""


def read_runs(conn: Conn, run_keys: Sequence[int]) -> list[TaskRow]:
    """Every row of some runs."""
    rows = conn.execute(_READ_RUNS, {"run_keys": list(run_keys)})
    return [TaskRow._make(row) for row in rows]


def read_tasks(conn: Conn, keys: Iterable[tuple[int, str]]) -> list[TaskRow]:
    """The rows of some tasks, given as (run_key, task_id); a task without a row is left out."""
    run_keys, task_ids = zip(*keys, strict=True)
    rows = conn.execute(_READ_TASKS, {"run_keys": list(run_keys), "task_ids": list(task_ids)})
    return [TaskRow._make(row) for row in rows]


def read_skips(conn: Conn, run_keys: Sequence[int]) -> list[TaskRow]:
    """Rows of tasks that chose to skip others."""
    rows = conn.execute(_READ_SKIPS, {"run_keys": list(run_keys)})
    return [TaskRow._make(row) for row in rows]


def with_unfinished(conn: Conn, runs: Iterable[tuple[int, str]]) -> set[int]:
    """Those of `runs` (run_key, dag_id) that have an unfinished task row."""
    run_keys, dag_ids = zip(*runs, strict=True)
    rows = conn.execute(_CENSUS, {"run_keys": list(run_keys), "dag_ids": list(dag_ids)})
    return {row[0] for row in rows}


class _Profile(NamedTuple):
    """The columns of a task's row that come from its spec."""

    max_tries: int
    pool: str
    pool_slots: int
    queue: str
    executor: str
    priority: int
    run_limit: int | None
    dag_limit: int | None
    retry_delay: float
    retry_backoff: float
    max_retry_delay: float | None
    execution_timeout: float | None


_TEXTS: Final = frozenset({"pool", "queue", "executor"})


def _profile(spec: TaskSpec) -> _Profile:
    return _Profile(
        spec.retries + 1,
        spec.pool,
        spec.pool_slots,
        spec.queue,
        spec.executor,
        spec.priority,
        spec.max_active_tis_per_dagrun,
        spec.max_active_tis_per_dag,
        spec.retry_delay,
        spec.retry_exponential_backoff,
        spec.max_retry_delay,
        spec.execution_timeout,
    )


def _profiles(specs: Iterable[TaskSpec]) -> dict[str, str]:
    """The columns that come from specs, once for each distinct combination, and which is whose."""
    numbers, profiles = arrays.profiles(map(_profile, specs))
    columns = zip(_Profile._fields, zip(*profiles, strict=True), strict=True)
    return {
        "profile": arrays.numbers(numbers),
        **{
            name: (arrays.texts if name in _TEXTS else arrays.numbers)(values)
            for name, values in columns
        },
    }


def insert(conn: Conn, tasks: Sequence[NewTask], *, fresh: bool = False) -> None:
    """Write the first rows of tasks. `fresh`: their runs are new, so they have no tries yet."""
    if not tasks:
        return
    conn.later(
        _INSERT,
        {
            "fresh": fresh,
            "run_key": arrays.numbers([task.run_key for task in tasks]),
            "task_id": arrays.texts([task.spec.task_id for task in tasks]),
            "dag_id": arrays.texts([task.dag_id for task in tasks]),
            "state": arrays.texts([task.state for task in tasks]),
            "reason": arrays.texts([task.reason for task in tasks]),
            "code": arrays.texts([task.code for task in tasks]),
            **_profiles(task.spec for task in tasks),
            **_places([task.waiting for task in tasks]),
        },
    )


def renew(conn: Conn, tasks: Sequence[tuple[int, TaskSpec]]) -> None:
    """Bring the rows of tasks, given with their run_key, up to their specs.

    For tasks that are about to be scheduled: their run may be pinned to another version since.
    """
    if not tasks:
        return
    conn.later(
        _RENEW,
        {
            "run_key": arrays.numbers([run_key for run_key, _ in tasks]),
            "task_id": arrays.texts([spec.task_id for _, spec in tasks]),
            **_profiles(spec for _, spec in tasks),
        },
    )


def stop(conn: Conn, tasks: Sequence[StoppedTask]) -> int:
    """Ask for the end of running tasks; how many did not know of it yet."""
    if not tasks:
        return 0
    return conn.execute(
        _STOP,
        {
            "run_key": arrays.numbers([task.run_key for task in tasks]),
            "task_id": arrays.texts([task.task_id for task in tasks]),
            "reason": arrays.texts([task.reason for task in tasks]),
        },
    ).rowcount


def move(conn: Conn, tasks: Sequence[MovedTask]) -> int:
    """Apply transitions; returns how many rows were still in the state they were expected in."""
    if not tasks:
        return 0
    return conn.execute(
        _MOVE,
        {
            "run_key": arrays.numbers([task.run_key for task in tasks]),
            "task_id": arrays.texts([task.task_id for task in tasks]),
            "expected": arrays.texts([task.expected for task in tasks]),
            "state": arrays.texts([task.state for task in tasks]),
            "reason": arrays.texts([task.reason for task in tasks]),
            "code": arrays.texts([task.code for task in tasks]),
            **_places([task.waiting for task in tasks]),
        },
    ).rowcount


def _places(waiting: Sequence[Waiting | None]) -> dict[str, str]:
    """The parameters of `PLACES`, and the columns of tasks that take their places by them."""
    placed = place(waiting)
    return {
        **placed.parameters,
        "flow": arrays.numbers(placed.flow),
        "behind": arrays.numbers(placed.offset),
        "stride": arrays.numbers([one.stride if one else None for one in waiting]),
    }
