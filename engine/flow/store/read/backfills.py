"""Backfills and their intervals; and what a plan for one has to know of a DAG's runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from flow.decide.backfill import Existing
from flow.states import RunState
from flow.store.connect import Conn
from flow.store.read.page import Page, Total, number, page_of


class Backfill(NamedTuple):
    """A backfill as lists show it.

    `start` and `end` are the starts of its first and last interval. Of `total` runs `done` have
    succeeded and `failed` ones failed; `waiting` ones have not started. `skipped` intervals are
    left alone. `tasks` are the ids of those that run, None all.
    """

    id: int
    dag_id: str
    start: datetime
    end: datetime
    state: str
    total: int
    done: int
    failed: int
    running: int
    max_active_runs: int
    order: str
    reprocess: str
    waiting: int
    skipped: int
    tasks: list[str] | None
    version: str
    priority: int
    conf: dict[str, Any] | None
    created_by: str
    created_at: datetime
    ended_at: datetime | None


class Interval(NamedTuple):
    """One interval of a backfill. `state` is that of its run; waiting: it has had no turn yet."""

    data_interval_start: datetime
    data_interval_end: datetime
    action: str
    note: str | None
    run_id: str | None
    state: str


class IntervalRun(NamedTuple):
    """The run of an interval."""

    run_key: int
    start: datetime
    end: datetime
    existing: Existing


class Durations(NamedTuple):
    """Seconds that runs and their tasks usually take; None and absent: it is not known."""

    run: float | None
    tasks: dict[str, float]


# A few hundred intervals each, by primary key, and a probe of run's for each of them. A run that
# was deleted had ended.
_BACKFILLS = """
select b.backfill_id, b.dag_id, i.start, i."end", b.state, i.total, i.done, i.failed, i.running,
  b.max_active_runs, b.run_order, b.reprocess, i.total - i.done - i.failed - i.running, i.skipped,
  b.tasks, b.version, b.priority, b.conf, b.created_by, b.created_at, b.ended_at
from backfill b, lateral (
  select min(i.data_interval_start) as start, max(i.data_interval_start) as "end",
    count(*) filter (where i.action <> 'skip') as total,
    count(*) filter (where i.action <> 'skip' and i.run_key is not null
      and coalesce(r.state, 'success') = 'success') as done,
    count(*) filter (where i.action <> 'skip' and r.state = 'failed') as failed,
    count(*) filter (where i.action <> 'skip' and r.state = 'running') as running,
    count(*) filter (where i.action = 'skip') as skipped
  from backfill_interval i left join run r on r.run_key = i.run_key
  where i.backfill_id = b.backfill_id) as i
"""
_ONE = f"{_BACKFILLS} where b.backfill_id = %(backfill_id)s"
_MATCHING = """(%(dag_id)s::text is null or b.dag_id = %(dag_id)s)
  and (not %(active)s or b.ended_at is null)"""
_PAGE = f"{_BACKFILLS} where {_MATCHING} order by b.backfill_id desc limit %(limit)s"
_COUNT = f"select count(*) from backfill b where {_MATCHING}"

_ACTIVE_IDS = "select backfill_id from backfill where ended_at is null order by backfill_id"

_INTERVALS = """
select i.data_interval_start, i.data_interval_end, i.action, i.note, r.run_id,
  case when r.run_key is not null then r.state when i.run_key is not null then 'deleted'
    else 'waiting' end
from backfill_interval i left join run r on r.run_key = i.run_key
where i.backfill_id = %(backfill_id)s order by i.ordinal
"""

# Index run_of_interval.
_RUNS = """
select run_key, data_interval_start, data_interval_end, run_id, state, archived from run
where dag_id = %(dag_id)s and interval_run and data_interval_start >= %(start)s
  and data_interval_start <= %(end)s order by data_interval_start
"""

# The last successful runs of all tasks, of the last hundred; index run_by_date. Then primary key
# prefixes of history.
_DURATIONS = """
with last as materialized (
  select run_key, extract(epoch from ended_at - started_at)::float8 as seconds
  from (select * from run where dag_id = %(dag_id)s
    order by logical_date desc, run_key desc limit 100) as recent
  where state = 'success' and selected is null and started_at is not null
  order by logical_date desc limit 20)
select null, percentile_cont(0.5) within group (order by seconds) from last
union all
select t.task_id, percentile_cont(0.5) within group (
  order by extract(epoch from t.ended_at - t.started_at)::float8)
from last join task_history t on t.run_key = last.run_key and t.started_at is not null
group by t.task_id
"""


def page(conn: Conn, dag_id: str | None, limit: int | None, *, active: bool) -> Page[Backfill]:
    """Backfills, newest first, of a DAG or of all; with `active` those that have not ended."""
    asked = {"dag_id": dag_id, "active": active, "limit": limit}
    rows = [_backfill(row) for row in conn.execute(_PAGE, asked)]
    return page_of(rows, limit, lambda: Total(number(conn, _COUNT, asked)))


def one(conn: Conn, backfill_id: int) -> Backfill | None:
    """A backfill by its id."""
    row = conn.execute(_ONE, {"backfill_id": backfill_id}).fetchone()
    return _backfill(row) if row else None


def active_ids(conn: Conn) -> list[int]:
    """The ids of all backfills that have not ended."""
    return [row[0] for row in conn.execute(_ACTIVE_IDS)]


def intervals(conn: Conn, backfill_id: int) -> list[Interval]:
    """The intervals of a backfill, in its order."""
    rows = conn.execute(_INTERVALS, {"backfill_id": backfill_id})
    return [Interval._make(row) for row in rows]


def interval_runs(conn: Conn, dag_id: str, start: datetime, end: datetime) -> list[IntervalRun]:
    """The runs of a DAG's intervals that start from `start` to `end`, both included; in order."""
    rows = conn.execute(_RUNS, {"dag_id": dag_id, "start": start, "end": end})
    return [
        IntervalRun(key, first, last, Existing(run_id, RunState(state), archived))
        for key, first, last, run_id, state, archived in rows
    ]


def durations(conn: Conn, dag_id: str) -> Durations:
    """How long runs of a DAG and their tasks took lately: medians."""
    rows = conn.execute(_DURATIONS, {"dag_id": dag_id}).fetchall()
    found: dict[str | None, float] = dict(rows)
    tasks = {task_id: seconds for task_id, seconds in found.items() if task_id is not None}
    return Durations(found.get(None), tasks)


def _backfill(row: Sequence[Any]) -> Backfill:
    found = Backfill._make(row)
    conf: Any = found.conf
    return found._replace(conf=None if conf is None else json.loads(conf))
