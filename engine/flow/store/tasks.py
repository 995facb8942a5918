"""Task rows as the scheduler reads and writes them, under the lock of their run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from flow.decide import UNIT
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


class MovedTask(NamedTuple):
    """A transition of a task that has a row."""

    run_key: int
    task_id: str
    expected: TaskState
    state: TaskState
    reason: str | None
    waiting: Waiting | None = None
    """Set where it begins to wait for a slot or for a worker."""


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
with {PLACES}
insert into task_hot (run_key, task_id, dag_id, state, try_number, max_tries, pool, pool_slots,
  queue, executor, priority, stride, run_limit, dag_limit, retry_delay, retry_backoff,
  max_retry_delay, execution_timeout, reason, rank, turn, scheduled_at, queued_at, ended_at)
select n.run_key, n.task_id, n.dag_id, n.state,
  case when n.state in ('scheduled', 'queued') then 1 else 0 end,
  p.max_tries, p.pool, p.pool_slots, p.queue, p.executor, p.priority, p.stride, p.run_limit,
  p.dag_limit, p.retry_delay, p.retry_backoff, p.max_retry_delay, p.execution_timeout, n.reason,
  coalesce(flow.place + n.behind, 0),
  case when n.state = 'scheduled' then coalesce(flow.place + n.behind, 0) else 0 end,
  case when n.state in ('scheduled', 'queued') then c.at end,
  case when n.state = 'queued' then c.at end,
  case when n.state not in ('scheduled', 'queued') then c.at end
from unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(dag_id)s::text[], %(state)s::text[],
    %(reason)s::text[], %(profile)s::int[], %(flow)s::int[], %(behind)s::bigint[])
  as n(run_key, task_id, dag_id, state, reason, profile, flow, behind)
join unnest(%(max_tries)s::int[], %(pool)s::text[], %(pool_slots)s::int[], %(queue)s::text[],
    %(executor)s::text[], %(priority)s::int[], %(stride)s::int[], %(run_limit)s::int[],
    %(dag_limit)s::int[], %(retry_delay)s::float8[], %(retry_backoff)s::float8[],
    %(max_retry_delay)s::float8[], %(execution_timeout)s::float8[])
  with ordinality as p(max_tries, pool, pool_slots, queue, executor, priority, stride, run_limit,
    dag_limit, retry_delay, retry_backoff, max_retry_delay, execution_timeout, profile)
  on p.profile = n.profile
left join flow on flow.number = n.flow,
  (select clock_timestamp() as at) as c
"""

# Transitions of rows, as compare-and-set. A task scheduled for a new try gets the next number; one
# that only moves on (scheduled → queued, rescheduled → scheduled) keeps its own. One that begins to
# wait gets a place, and the priority that its spec says, unless it is a raised one that goes on.
_MOVE = f"""
with {PLACES},
moved as (
  select m.*, flow.place + m.behind as place
  from unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(expected)s::text[], %(state)s::text[],
      %(reason)s::text[], %(flow)s::int[], %(behind)s::bigint[], %(priority)s::int[],
      %(stride)s::int[])
    as m(run_key, task_id, expected, state, reason, flow, behind, priority, stride)
  left join flow on flow.number = m.flow)
update task_hot t set
  state = m.state,
  reason = m.reason,
  priority = case when m.expected = 'scheduled' then t.priority
    else coalesce(m.priority, t.priority) end,
  stride = coalesce(m.stride, t.stride),
  rank = case when m.expected = 'scheduled' and t.rank < 0 then t.rank
    else coalesce(m.place, t.rank) end,
  turn = case when m.state = 'scheduled' then coalesce(m.place, 0)
    when m.expected = 'scheduled' then t.turn else 0 end,
  try_number = t.try_number
    + (m.state in ('scheduled', 'queued') and m.expected in ('none', 'up_for_retry'))::int,
  due_at = null,
  scheduled_at = case when m.state in ('scheduled', 'queued') and m.expected <> 'scheduled'
    then clock_timestamp() else t.scheduled_at end,
  queued_at = case when m.state = 'queued' then clock_timestamp()
    when m.state = 'scheduled' then null else t.queued_at end,
  ended_at = case when m.state in ('scheduled', 'queued') then null else clock_timestamp() end
from moved m
where t.run_key = m.run_key and t.task_id = m.task_id and t.map_path = '{{}}'
  and t.state = m.expected
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
    """The columns of a task's row that come from its spec and from what its DAG is entitled to."""

    max_tries: int
    pool: str
    pool_slots: int
    queue: str
    executor: str
    priority: int
    stride: int
    run_limit: int | None
    dag_limit: int | None
    retry_delay: float
    retry_backoff: float
    max_retry_delay: float | None
    execution_timeout: float | None


_TEXTS: Final = frozenset({"pool", "queue", "executor"})


def _profile(task: NewTask) -> _Profile:
    spec = task.spec
    return _Profile(
        spec.retries + 1,
        spec.pool,
        spec.pool_slots,
        spec.queue,
        spec.executor,
        spec.priority,
        task.waiting.stride if task.waiting else UNIT,
        spec.max_active_tis_per_dagrun,
        spec.max_active_tis_per_dag,
        spec.retry_delay,
        spec.retry_exponential_backoff,
        spec.max_retry_delay,
        spec.execution_timeout,
    )


def insert(conn: Conn, tasks: Sequence[NewTask]) -> None:
    """Write the first rows of tasks."""
    if not tasks:
        return
    numbers, profiles = arrays.profiles(map(_profile, tasks))
    placed = place(task.waiting for task in tasks)
    columns = {
        name: (arrays.texts if name in _TEXTS else arrays.numbers)(values)
        for name, values in zip(_Profile._fields, zip(*profiles, strict=True), strict=True)
    }
    conn.execute(
        _INSERT,
        {
            "run_key": arrays.numbers([task.run_key for task in tasks]),
            "task_id": arrays.texts([task.spec.task_id for task in tasks]),
            "dag_id": arrays.texts([task.dag_id for task in tasks]),
            "state": arrays.texts([task.state for task in tasks]),
            "reason": arrays.texts([task.reason for task in tasks]),
            "profile": arrays.numbers(numbers),
            "flow": arrays.numbers(placed.flow),
            "behind": arrays.numbers(placed.offset),
            **columns,
            **placed.parameters,
        },
    )


def move(conn: Conn, tasks: Sequence[MovedTask]) -> int:
    """Apply transitions; returns how many rows were still in the state they were expected in."""
    if not tasks:
        return 0
    placed = place(task.waiting for task in tasks)
    waiting = [task.waiting for task in tasks]
    return conn.execute(
        _MOVE,
        {
            **placed.parameters,
            "flow": arrays.numbers(placed.flow),
            "behind": arrays.numbers(placed.offset),
            "priority": arrays.numbers([one.priority if one else None for one in waiting]),
            "stride": arrays.numbers([one.stride if one else None for one in waiting]),
            "run_key": arrays.numbers([task.run_key for task in tasks]),
            "task_id": arrays.texts([task.task_id for task in tasks]),
            "expected": arrays.texts([task.expected for task in tasks]),
            "state": arrays.texts([task.state for task in tasks]),
            "reason": arrays.texts([task.reason for task in tasks]),
        },
    ).rowcount
