"""Run rows: locking, creating, starting and ending them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from flow.states import RunState, RunType
from flow.store import arrays
from flow.store.connect import Conn


class LockedRun(NamedTuple):
    """A running run whose row this transaction holds."""

    run_key: int
    dag_id: str
    spec_hash: str
    paused: bool
    backfill: bool
    limited: bool
    """Its DAG has a limit over all its runs now, whatever the run's own version says."""


class Started(NamedTuple):
    """A run that left the queue of its DAG."""

    run_key: int
    dag_id: str
    version: int
    backfill: bool


class NewRun(NamedTuple):
    """A run to create. Dates are aware UTC datetimes.

    The first two fields are the run's own; the others it often shares with many of its batch.
    """

    dag_id: str
    version: int
    run_id: str
    run_type: RunType
    state: RunState
    logical_date: datetime
    start: datetime
    end: datetime
    interval_run: bool
    conf: str = "{}"


class EndedRun(NamedTuple):
    """A verdict to write."""

    run_key: int
    dag_id: str
    state: RunState
    reason: str | None


# Running runs, locked in key order; one that another scheduler holds is passed over. The states of
# their tasks are read by a later statement: this one's snapshot may be older than the lock.
_LOCK = """
select r.run_key, r.dag_id, v.spec_hash, r.paused, r.backfill_id is not null,
  d.concurrency is not null
from run r join dag_version v on v.dag_id = r.dag_id and v.number = r.version
  join dag d on d.dag_id = r.dag_id
where r.run_key = any(%(run_keys)s::bigint[]) and r.state = 'running'
order by r.run_key
for no key update of r skip locked
"""

_STILL_RUNNING = """
select run_key from run where run_key = any(%(run_keys)s::bigint[]) and state = 'running'
"""

# A run that exists already for its interval or under its id stays as it is. What runs of one moment
# have in common travels as a profile.
_CREATE = """
insert into run (dag_id, version, run_id, run_type, state, logical_date, data_interval_start,
  data_interval_end, interval_run, conf, started_at)
select n.dag_id, n.version, p.run_id, p.run_type, p.state, p.logical_date, p.data_interval_start,
  p.data_interval_end, p.interval_run, p.conf, case when p.state = 'running' then c.at end
from unnest(%(dag_id)s::text[], %(version)s::int[], %(profile)s::int[])
  as n(dag_id, version, profile)
join unnest(%(run_id)s::text[], %(run_type)s::text[], %(state)s::text[],
    %(logical_date)s::timestamptz[], %(start)s::timestamptz[], %(end)s::timestamptz[],
    %(interval_run)s::bool[], %(conf)s::text[])
  with ordinality as p(run_id, run_type, state, logical_date, data_interval_start,
    data_interval_end, interval_run, conf, profile)
  on p.profile = n.profile,
  (select clock_timestamp() as at) as c
on conflict do nothing
returning dag_id, run_key
"""

# Runs of some DAGs that are not finished; index run_unfinished. Exact under the DAGs' locks.
_ACTIVE = """
select dag_id, count(*) filter (where state = 'running'), count(*) from run
where dag_id = any(%(dag_ids)s::text[]) and state in ('queued', 'running') group by dag_id
"""

# The oldest queued runs of each DAG, as many as its limit has room for; index run_unfinished.
# The DAGs are locked by the caller. `started_at` stays that of the first start.
_START = """
update run r set state = 'running', started_at = coalesce(r.started_at, clock_timestamp())
from unnest(%(dag_ids)s::text[], %(room)s::int[]) as d(dag_id, room),
  lateral (select q.run_key from run q where q.dag_id = d.dag_id and q.state = 'queued'
    and not q.paused order by q.logical_date, q.run_key limit d.room) as first
where r.run_key = first.run_key and r.state = 'queued'
returning r.run_key, r.dag_id, r.version, r.backfill_id is not null
"""

_END = """
update run r set state = e.state, reason = e.reason, ended_at = clock_timestamp()
from unnest(%(run_key)s::bigint[], %(state)s::text[], %(reason)s::text[])
  as e(run_key, state, reason)
where r.run_key = e.run_key and r.state in ('queued', 'running')
"""

# Rows of finished runs leave the hot tables in the transaction that ends the run.
_ARCHIVE = tuple(
    f"with moved as (delete from {name}_hot where run_key = any(%(run_keys)s::bigint[]) "
    f"returning *) insert into {name}_history ({columns}) select {columns} from moved"
    for name, columns in (
        (
            "task",
            "run_key, task_id, map_path, dag_id, state, try_number, max_tries, claim, losses, "
            "pool, pool_slots, queue, executor, priority, rank, turn, stride, run_limit, "
            "dag_limit, keeps_slot, held, retry_delay, retry_backoff, max_retry_delay, "
            "execution_timeout, scheduled_at, queued_at, started_at, ended_at, due_at, worker, "
            "skips, reason",
        ),
        (
            "try",
            "run_key, task_id, map_path, try_number, claim, state, started_at, ended_at, worker, "
            "host, pid, executor, queue, bundle, bundle_version, code_hash, exit_code, signal, "
            "reason, peak_rss, cpu_time, log",
        ),
        ("xcom", "run_key, task_id, map_path, try_number, key, value, created_at"),
        ("event", "run_key, event_id, at, task_id, map_path, try_number, kind, detail"),
    )
)


def lock(conn: Conn, run_keys: Sequence[int]) -> list[LockedRun]:
    """Lock those of `run_keys` that are running and that nobody else holds."""
    rows = conn.execute(_LOCK, {"run_keys": list(run_keys)})
    return [LockedRun._make(row) for row in rows]


def still_running(conn: Conn, run_keys: Sequence[int]) -> set[int]:
    """Those of `run_keys` whose run is running, whoever holds it."""
    if not run_keys:
        return set()
    return {row[0] for row in conn.execute(_STILL_RUNNING, {"run_keys": list(run_keys)})}


def create(conn: Conn, runs: Sequence[NewRun]) -> dict[str, int]:
    """Create runs of different DAGs; run_key by dag_id, without those that existed already."""
    if not runs:
        return {}
    numbers, profiles = arrays.profiles(run[2:] for run in runs)
    run_id, run_type, state, logical_date, start, end, interval_run, conf = zip(
        *profiles, strict=True
    )
    rows = conn.execute(
        _CREATE,
        {
            "dag_id": arrays.texts([run.dag_id for run in runs]),
            "version": arrays.numbers([run.version for run in runs]),
            "profile": arrays.numbers(numbers),
            "run_id": arrays.texts(run_id),
            "run_type": arrays.texts(run_type),
            "state": arrays.texts(state),
            "logical_date": arrays.times(logical_date),
            "start": arrays.times(start),
            "end": arrays.times(end),
            "interval_run": arrays.flags(interval_run),
            "conf": arrays.texts(conf),
        },
    )
    return dict(rows.fetchall())


def active(conn: Conn, dag_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """(running, unfinished) runs by DAG; a DAG without any is absent."""
    rows = conn.execute(_ACTIVE, {"dag_ids": list(dag_ids)})
    return {dag_id: (running, unfinished) for dag_id, running, unfinished in rows}


def start(conn: Conn, room: dict[str, int]) -> list[Started]:
    """Start the oldest queued runs of DAGs that have room."""
    open_ = {dag_id: count for dag_id, count in room.items() if count > 0}
    if not open_:
        return []
    rows = conn.execute(_START, {"dag_ids": list(open_), "room": list(open_.values())})
    return [Started._make(row) for row in rows]


def end(conn: Conn, runs: Sequence[EndedRun]) -> None:
    """Write verdicts and move the runs' rows to history."""
    if not runs:
        return
    run_keys = [run.run_key for run in runs]
    conn.execute(
        _END,
        {
            "run_key": run_keys,
            "state": [run.state.value for run in runs],
            "reason": [run.reason for run in runs],
        },
    )
    for statement in _ARCHIVE:
        conn.execute(statement, {"run_keys": run_keys})
