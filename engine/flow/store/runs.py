"""Run rows: locking, creating, starting and ending them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from psycopg import Cursor

from flow.decide.reason import Code
from flow.states import RunState, RunType
from flow.store import arrays
from flow.store.connect import Conn, Row
from flow.store.tasks import TaskRow
from flow.store.wakeups import BUSY_AGAIN


class TakenRun(NamedTuple):
    """A running run whose row this transaction holds."""

    run_key: int
    dag_id: str
    spec_hash: str
    paused: bool
    holds: bool
    logical_date: datetime
    started_at: datetime
    past_key: int | None
    chained: bool
    backfill: bool
    selected: list[str] | None
    """The tasks that are to run; None: all of them."""
    ignores_past: bool
    priority: int
    """Added to that of its tasks."""
    limited: bool
    """Its DAG has a limit over all its runs now, whatever the run's own version says."""


class Woken(NamedTuple):
    """What was taken of the wake-ups of runs."""

    wakeups: int
    """How many, of whatever runs."""
    runs: list[TakenRun]
    """Those of them that this transaction holds now."""
    changed: dict[int, set[str] | None]
    """By run_key the tasks that changed; None: anything may have changed."""
    tasks: dict[int, list[TaskRow]]
    """By run_key all rows of those of the runs that have few."""


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


class StartedRun(NamedTuple):
    """A run that has left the queue. Its row was locked by that."""

    run_key: int
    dag_id: str
    version: int
    logical_date: datetime
    started_at: datetime
    chained: bool
    backfill: bool
    selected: list[str] | None
    ignores_past: bool
    priority: int


class Active(NamedTuple):
    """The unfinished runs of a DAG that its limit counts: all but those of backfills.

    `latest` is the last logical date among all that are running.
    """

    running: int = 0
    unfinished: int = 0
    latest: datetime | None = None


class EndedRun(NamedTuple):
    """A verdict to write."""

    run_key: int
    dag_id: str
    state: RunState
    reason: str | None
    code: Code | None = None
    """Of the reason."""


# A run that exists already for its interval or under its id stays as it is. What runs of one moment
# have in common travels as a profile.
_CREATE = """
insert into run (dag_id, version, run_id, run_type, state, logical_date, data_interval_start,
  data_interval_end, interval_run, conf, queued_at, started_at)
select n.dag_id, n.version, p.run_id, p.run_type, p.state, p.logical_date, p.data_interval_start,
  p.data_interval_end, p.interval_run, p.conf, c.at, case when p.state = 'running' then c.at end
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
select dag_id, count(*) filter (where state = 'running' and backfill_id is null),
  count(*) filter (where backfill_id is null),
  max(logical_date) filter (where state = 'running') from run
where dag_id = any(%(dag_ids)s::text[]) and state in ('queued', 'running') group by dag_id
"""

STARTED: Final = """r.run_key, r.dag_id, r.version, r.logical_date, r.started_at, r.chained,
  r.backfill_id is not null, r.selected, r.ignores_past, r.priority"""
"""What a statement that starts runs returns of each: the columns of `StartedRun`."""

# The oldest queued runs of each DAG, as many as its limit has room for; index run_queued. Those of
# backfills have limits of their own (`flow.store.backfill_turns`). The DAGs are locked by the
# caller. `started_at` stays that of the first start.
_START = f"""
update run r set state = 'running', started_at = coalesce(r.started_at, clock_timestamp())
from unnest(%(dag_ids)s::text[], %(room)s::int[]) as d(dag_id, room),
  lateral (select q.run_key from run q where q.dag_id = d.dag_id and q.state = 'queued'
    and q.backfill_id is null
    and not q.paused order by q.logical_date, q.run_key limit d.room) as first
where r.run_key = first.run_key and r.state = 'queued'
returning {STARTED}
"""

_REQUEUE = """
update run set state = 'queued', past_key = null
where run_key = any(%(run_keys)s::bigint[]) and state = 'running'
"""

# Verdicts, and all that follows from them. A function of the schema: see there.
_END = """
select end_runs(%(run_key)s::bigint[], %(state)s::text[], %(reason)s::text[], %(code)s::text[])
"""

# Rows of finished runs leave the hot tables in the transaction that ends the run (`end_runs`), and
# come back in the one that clears it.
_BRING_BACK = tuple(
    f"with moved as (delete from {name}_history where run_key = any(%(run_keys)s::bigint[]) "
    f"returning *) insert into {name}_hot select * from moved"
    for name in ("task", "try", "xcom", "event")
)

# A cleared run begins anew, in the queue: its limits count from its new start. It stays in a
# backfill that is active, and else is a run like any other of its DAG.
_REOPEN = """
update run r set state = 'queued', reason = null, reason_code = null,
  queued_at = clock_timestamp(), started_at = null, ended_at = null,
  ignores_past = r.ignores_past and kept.is_so, backfill_id = kept.backfill_id,
  priority = case when kept.is_so then r.priority else 0 end
from unnest(%(run_keys)s::bigint[]) as k(run_key) join run o on o.run_key = k.run_key
  left join lateral (select b.backfill_id from backfill b
    where b.backfill_id = o.backfill_id and b.ended_at is null) as a on true,
  lateral (select a.backfill_id, a.backfill_id is not null as is_so) as kept
where r.run_key = k.run_key and r.state in ('success', 'failed')
"""

_SELECT = """
update run r set selected = array(select unnest(r.selected) union select unnest(k.task_ids))
from (select run_key, array_agg(task_id) as task_ids
  from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[]) as n(run_key, task_id)
  group by run_key) as k
where r.run_key = k.run_key and r.selected is not null
"""

_REPIN = """
update run r set version = v.version
from unnest(%(run_keys)s::bigint[], %(versions)s::int[]) as v(run_key, version)
where r.run_key = v.run_key
"""


def take_woken(limit: int, whole: int) -> str:
    """The statement that takes up to `limit` due wake-ups of runs, to travel with a begin.

    It locks the wake-ups, then their runs that are running, passing over what another scheduler
    holds; deletes the wake-ups that need no other look; and reads under the lock, in a statement
    of its own, the tasks of runs with up to `whole` rows. `woken` reads its answer.
    """
    return (
        "select wakeups, changed, tasks, run_key, dag_id, spec_hash, paused, holds, logical_date, "
        "started_at, past_key, chained, backfill, selected, ignores_past, priority, limited "
        f"from take_runs({limit}, make_interval(secs => {BUSY_AGAIN}), {whole})"
    )


def woken(answer: Cursor[Row]) -> Woken:
    """What `take_woken` has taken."""
    rows = answer.fetchall()
    locked = {row[3]: row for row in rows if row[4] is not None}
    return Woken(
        wakeups=sum(row[0] for row in rows),
        runs=[TakenRun._make(row[3:]) for row in locked.values()],
        changed={key: None if row[1] is None else set(row[1]) for key, row in locked.items()},
        tasks={key: _task_rows(key, row[2]) for key, row in locked.items() if row[2] is not None},
    )


def _task_rows(
    run_key: int, tasks: list[tuple[str, str, str | None, list[str] | None]]
) -> list[TaskRow]:
    return [
        TaskRow(run_key, task_id, state, datetime.fromisoformat(due) if due else None, skips)
        for task_id, state, due, skips in tasks
    ]


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


def active(conn: Conn, dag_ids: Sequence[str]) -> dict[str, Active]:
    """The unfinished runs of DAGs; a DAG without any is absent."""
    rows = conn.execute(_ACTIVE, {"dag_ids": list(dag_ids)})
    return {dag_id: Active._make(row) for dag_id, *row in rows}


def requeue(conn: Conn, run_keys: Sequence[int]) -> None:
    """Put running runs back into the queue; their rows stay as they are."""
    if run_keys:
        conn.later(_REQUEUE, {"run_keys": list(run_keys)})


def start(conn: Conn, room: dict[str, int]) -> list[StartedRun]:
    """Start the oldest queued runs of DAGs that have room."""
    open_ = {dag_id: count for dag_id, count in room.items() if count > 0}
    if not open_:
        return []
    rows = conn.execute(_START, {"dag_ids": list(open_), "room": list(open_.values())})
    return [StartedRun._make(row) for row in rows]


def end(conn: Conn, runs: Sequence[EndedRun]) -> None:
    """Write verdicts, move the runs' rows to history, and wake DAGs that may have waited for it."""
    if runs:
        conn.later(
            _END,
            {
                "run_key": arrays.numbers([run.run_key for run in runs]),
                "state": arrays.texts([run.state for run in runs]),
                "reason": arrays.texts([run.reason for run in runs]),
                "code": arrays.texts([run.code for run in runs]),
            },
        )


def reopen(conn: Conn, run_keys: Sequence[int]) -> None:
    """Put finished runs, locked by the caller, back into the queue, and their rows where they
    are worked on.
    """
    if run_keys:
        conn.execute(_REOPEN, {"run_keys": list(run_keys)})
        for statement in _BRING_BACK:
            conn.execute(statement, {"run_keys": list(run_keys)})


def select(conn: Conn, tasks: Iterable[tuple[int, str]]) -> None:
    """Let tasks run, given as (run_key, task_id), also where the run was made for others only."""
    rows = list(tasks)
    if rows:
        run_keys, task_ids = zip(*rows, strict=True)
        values = {"run_keys": arrays.numbers(run_keys), "task_ids": arrays.texts(task_ids)}
        conn.execute(_SELECT, values)


def repin(conn: Conn, versions: dict[int, int]) -> None:
    """Pin runs, locked by the caller, to other versions of their DAGs."""
    if versions:
        values = {"run_keys": list(versions), "versions": list(versions.values())}
        conn.execute(_REPIN, values)
