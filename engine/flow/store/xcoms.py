"""XComs: values that tasks hand on. They belong to a try; readers see those of the last try."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from flow.store import arrays
from flow.store.connect import Conn
from flow.store.tries import Claim


class XCom(NamedTuple):
    """One value, as the JSON text that was stored."""

    task_id: str
    map_path: tuple[int, ...]
    value: str


class Success(NamedTuple):
    """A successful run. Dates are aware UTC datetimes."""

    data_interval_start: datetime
    data_interval_end: datetime
    started_at: datetime | None
    ended_at: datetime | None


# Counts only while the claim does; locks the task's row against a report of its loss.
_PUSH = """
with current as (
  select run_key, task_id, map_path, try_number from task_hot
  where run_key = %(run_key)s::bigint and task_id = %(task_id)s
    and map_path = %(map_path)s::int[] and claim = %(claim)s::int and state = 'running'
  for no key update)
insert into xcom_hot (run_key, task_id, map_path, try_number, key, value)
select run_key, task_id, map_path, try_number, %(key)s, %(value)s from current
on conflict (run_key, task_id, map_path, try_number, key)
  do update set value = excluded.value, created_at = clock_timestamp()
"""

_RUN_KEY = "select run_key from run where dag_id = %(dag_id)s and run_id = %(run_id)s"

# Of the tasks' current tries; primary keys of both. `task` and `xcom` are the views over hot and
# history, so a run that ended answers too.
_PULL = """
select x.task_id, x.map_path, x.value
from xcom x join task t on t.run_key = x.run_key and t.task_id = x.task_id
  and t.map_path = x.map_path and t.try_number = x.try_number
where x.run_key = %(run_key)s::bigint and t.run_key = %(run_key)s::bigint and x.key = %(key)s
  and (%(task_ids)s::text[] is null or x.task_id = any(%(task_ids)s::text[]))
  and (%(map_path)s::int[] is null or x.map_path = %(map_path)s::int[])
order by x.task_id, x.map_path
"""

# The run of the DAG with the greatest logical date, up to a run's own, that has such an XCom.
_LAST_WITH = """
select r.run_key from run r
where r.dag_id = %(dag_id)s
  and r.logical_date <= (select logical_date from run where run_key = %(run_key)s::bigint)
  and exists (select from xcom x where x.run_key = r.run_key and x.key = %(key)s
    and (%(task_ids)s::text[] is null or x.task_id = any(%(task_ids)s::text[])))
order by r.logical_date desc, r.run_key desc limit 1
"""

_PREVIOUS_SUCCESS = """
select r.data_interval_start, r.data_interval_end, r.started_at, r.ended_at
from run r join run mine on mine.run_key = %(run_key)s::bigint
where r.dag_id = mine.dag_id and r.state = 'success' and r.logical_date < mine.logical_date
order by r.logical_date desc limit 1
"""


def push(conn: Conn, claim: Claim, key: str, value: str) -> bool:
    """Store a value of the try that holds `claim`; False when the claim no longer counts."""
    return (
        conn.execute(
            _PUSH,
            {
                "run_key": claim.run_key,
                "task_id": claim.task_id,
                "map_path": arrays.path(claim.map_path),
                "claim": claim.number,
                "key": key,
                "value": value,
            },
        ).rowcount
        == 1
    )


def run_key_of(conn: Conn, dag_id: str, run_id: str) -> int | None:
    """The key of a run; None when there is no such run."""
    row = conn.execute(_RUN_KEY, {"dag_id": dag_id, "run_id": run_id}).fetchone()
    return row[0] if row else None


def pull(
    conn: Conn,
    run_key: int,
    key: str,
    *,
    task_ids: Sequence[str] | None = None,
    map_path: Sequence[int] | None = None,
) -> list[XCom]:
    """Values of a run under `key`, of some tasks (None: all) and one map path (None: all)."""
    rows = conn.execute(
        _PULL,
        {
            "run_key": run_key,
            "key": key,
            "task_ids": None if task_ids is None else list(task_ids),
            "map_path": None if map_path is None else arrays.path(map_path),
        },
    )
    return [XCom(task_id, tuple(path), value) for task_id, path, value in rows]


def last_run_with(
    conn: Conn, dag_id: str, run_key: int, key: str, task_ids: Sequence[str] | None
) -> int | None:
    """The latest run up to `run_key`'s logical date that has a value under `key`."""
    row = conn.execute(
        _LAST_WITH,
        {
            "dag_id": dag_id,
            "run_key": run_key,
            "key": key,
            "task_ids": None if task_ids is None else list(task_ids),
        },
    ).fetchone()
    return row[0] if row else None


def previous_success(conn: Conn, run_key: int) -> Success | None:
    """The successful run of the same DAG with the greatest earlier logical date."""
    row = conn.execute(_PREVIOUS_SUCCESS, {"run_key": run_key}).fetchone()
    return Success._make(row) if row else None
