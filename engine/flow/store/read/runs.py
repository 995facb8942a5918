"""Runs: pages, one of them, and which run a word means."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from flow.states import RunState
from flow.store import arrays
from flow.store.connect import Conn
from flow.store.read.page import COUNTED, Page, number, page_of, total


class Run(NamedTuple):
    """A run as lists show it."""

    dag_id: str
    run_id: str
    run_type: str
    state: str
    logical_date: datetime
    data_interval_start: datetime
    data_interval_end: datetime
    queued_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    version: int
    conf: dict[str, Any]
    backfill_id: int | None
    note: str | None


class FoundRun(NamedTuple):
    """A run with what only operations need."""

    run_key: int
    spec_hash: str
    reason: str | None
    reason_code: str | None
    paused: bool
    archived: bool
    run_after: datetime
    selected: list[str] | None
    """The tasks that are to run; None: all of them."""
    ignores_past: bool
    priority: int
    """Added to that of its tasks."""
    run: Run

    @property
    def made_at(self) -> datetime:
        """When it was made, to the millisecond: its key begins with that (`new_run_key`)."""
        return datetime.fromtimestamp((self.run_key >> 20) / 1000, UTC)


class ListedRun(NamedTuple):
    """A run of a list, and its key: where the list goes on."""

    run_key: int
    run: Run


class Filter(NamedTuple):
    """Which runs are meant. Bounds are of the interval's start, both included."""

    dag_id: str | None = None
    state: str | None = None
    run_type: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    end_excluded: bool = False


_COLUMNS = """r.dag_id, r.run_id, r.run_type, r.state, r.logical_date, r.data_interval_start,
  r.data_interval_end, r.queued_at, r.started_at, r.ended_at, r.version, r.conf, r.backfill_id,
  r.note"""

_ANY = f"""
select r.run_key, v.spec_hash, r.reason, r.reason_code, r.paused, r.archived, r.run_after,
  r.selected, r.ignores_past, r.priority, {_COLUMNS}
from run r join dag_version v on v.dag_id = r.dag_id and v.number = r.version
"""
_FOUND = f"{_ANY}where r.dag_id = %(dag_id)s"
_BY_ID = f"{_FOUND} and r.run_id = %(run_id)s"
_BY_KEYS = f"{_ANY}where r.run_key = any(%(run_keys)s::bigint[])"
# Index run_by_date. Logical dates are interval starts, and for ad hoc runs the time of creation.
_LATEST = f"{_FOUND} order by r.logical_date desc, r.run_key desc limit 1"
# Index run_of_interval.
_BY_INTERVAL = f"""{_FOUND} and r.interval_run and r.data_interval_start >= %(start)s
  and r.data_interval_start <= %(end)s order by r.data_interval_start desc limit 50"""

# Index run_by_date, walked until one fits.
_NEWEST = f"""{_FOUND} and r.state = %(state)s
  and (%(date)s::timestamptz is null
    or (r.logical_date, r.run_key) < (%(date)s::timestamptz, %(run_key)s::bigint))
order by r.logical_date desc, r.run_key desc limit 1"""
_NEXT = f"""{_FOUND} and r.state = %(state)s
  and (r.logical_date, r.run_key) > (%(date)s::timestamptz, %(run_key)s::bigint)
order by r.logical_date, r.run_key limit 1"""

# Oldest first: the order in which they are worked through.
_IN_RANGE_ORDER = "order by r.data_interval_start, r.run_key"

# Newest first, index run_by_date; for suggestions.
_RECENT_IDS = """
select run_id from run where dag_id = %(dag_id)s
order by logical_date desc, run_key desc limit %(limit)s
"""

# A condition that is not asked for is left out, so that the planner sees which index fits:
# run_by_date within a DAG; else the primary key, run_unfinished, run_failed, run_by_type or
# run_by_interval.
_CONDITIONS = {
    "dag_id": "r.dag_id = %(dag_id)s",
    "run_type": "r.run_type = %(run_type)s",
    "start": "r.data_interval_start >= %(start)s",
    "end": "r.data_interval_start <= %(end)s",
    "before": "r.data_interval_start < %(before)s",
}
# Literals, because a partial index is only considered for a condition known when planning.
_STATES = {
    "queued": "r.state = 'queued' and r.state in ('queued', 'running')",
    "running": "r.state = 'running' and r.state in ('queued', 'running')",
    "success": "r.state = 'success'",
    "failed": "r.state = 'failed'",
}
_BY_DATE = "order by r.logical_date desc, r.run_key desc"
_BY_KEY = "order by r.run_key desc"
_BEHIND_DATE = "(r.logical_date, r.run_key) < (%(date)s::timestamptz, %(run_key)s::bigint)"
_BEHIND_KEY = "r.run_key < %(run_key)s::bigint"


def page(conn: Conn, wanted: Filter, limit: int | None) -> Page[Run]:
    """Runs, newest first: within a DAG by logical date, over all DAGs by creation."""
    where, asked = _matching(wanted)
    rows = conn.execute(
        f"select {_COLUMNS} {where} {_order(wanted)} limit %(limit)s",
        {**asked, "limit": limit},
    )
    listed = [_run(row) for row in rows]
    count = f"select count(*) from (select {where} limit {COUNTED + 1}) as counted"
    return page_of(listed, limit, lambda: total(number(conn, count, asked)))


def behind(conn: Conn, wanted: Filter, last: ListedRun | None, limit: int) -> list[ListedRun]:
    """The runs that follow one in the order of `page`; None: the first ones."""
    where, asked = _matching(wanted)
    if last is not None:
        where += f" and {_BEHIND_DATE if wanted.dag_id else _BEHIND_KEY}"
        asked |= {"run_key": last.run_key, "date": last.run.logical_date}
    rows = conn.execute(
        f"select r.run_key, {_COLUMNS} {where} {_order(wanted)} limit %(limit)s",
        {**asked, "limit": limit},
    )
    return [ListedRun(row[0], _run(row[1:])) for row in rows]


def by_id(conn: Conn, dag_id: str, run_id: str) -> FoundRun | None:
    """The run of that id."""
    return _found(conn.execute(_BY_ID, {"dag_id": dag_id, "run_id": run_id}).fetchone())


def by_keys(conn: Conn, run_keys: Sequence[int]) -> dict[int, FoundRun]:
    """Runs by key; one that is not there is absent."""
    rows = conn.execute(_BY_KEYS, {"run_keys": arrays.numbers(run_keys)})
    return {one.run_key: one for row in rows if (one := _found(row)) is not None}


def latest(conn: Conn, dag_id: str) -> FoundRun | None:
    """The run with the greatest logical date."""
    return _found(conn.execute(_LATEST, {"dag_id": dag_id}).fetchone())


def by_interval(conn: Conn, dag_id: str, start: datetime, end: datetime) -> list[FoundRun]:
    """Interval runs that start from `start` to `end`, both included; newest first, at most 50."""
    rows = conn.execute(_BY_INTERVAL, {"dag_id": dag_id, "start": start, "end": end})
    return [found for row in rows if (found := _found(row)) is not None]


def newest(
    conn: Conn, dag_id: str, state: RunState, before: FoundRun | None = None
) -> FoundRun | None:
    """The run in a state with the greatest logical date, or with the greatest before a run's."""
    return _found(conn.execute(_NEWEST, _beside(dag_id, state, before)).fetchone())


def next_after(conn: Conn, dag_id: str, state: RunState, after: FoundRun) -> FoundRun | None:
    """The first run in a state whose logical date is after a run's."""
    return _found(conn.execute(_NEXT, _beside(dag_id, state, after)).fetchone())


def in_range(conn: Conn, wanted: Filter) -> list[FoundRun]:
    """Every run of a DAG whose interval starts within the bounds, oldest first."""
    asked = {
        "dag_id": wanted.dag_id,
        "start": wanted.start,
        "before" if wanted.end_excluded else "end": wanted.end,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    conditions = "".join(f" and {_CONDITIONS[name]}" for name in asked if name != "dag_id")
    rows = conn.execute(f"{_FOUND}{conditions} {_IN_RANGE_ORDER}", asked)
    return [found for row in rows if (found := _found(row)) is not None]


def recent_ids(conn: Conn, dag_id: str, limit: int) -> list[str]:
    """The ids of the newest runs."""
    return [row[0] for row in conn.execute(_RECENT_IDS, {"dag_id": dag_id, "limit": limit})]


def _matching(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """From where runs like this come, and the values in it."""
    asked: dict[str, Any] = {
        "dag_id": wanted.dag_id,
        "run_type": wanted.run_type,
        "start": wanted.start,
        "before" if wanted.end_excluded else "end": wanted.end,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    conditions = [_CONDITIONS[name] for name in asked]
    if wanted.state is not None:
        conditions.append(_STATES[wanted.state])
    if wanted.run_type not in (None, "scheduled"):
        conditions.append("r.run_type <> 'scheduled'")
    return f"from run r where {' and '.join(conditions) or 'true'}", asked


def _order(wanted: Filter) -> str:
    return _BY_DATE if wanted.dag_id else _BY_KEY


def _beside(dag_id: str, state: RunState, run: FoundRun | None) -> dict[str, Any]:
    return {
        "dag_id": dag_id,
        "state": state.value,
        "date": run.run.logical_date if run else None,
        "run_key": run.run_key if run else None,
    }


def _found(row: tuple[Any, ...] | None) -> FoundRun | None:
    if row is None:
        return None
    own = len(FoundRun._fields) - 1
    return FoundRun._make((*row[:own], _run(row[own:])))


def _run(row: tuple[Any, ...]) -> Run:
    found = Run._make(row)
    return found._replace(conf=json.loads(row[Run._fields.index("conf")]))
