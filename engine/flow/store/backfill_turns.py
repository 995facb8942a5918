"""Backfills as a scheduler moves them on: what has room, whose turn it is, what is over.

Every statement is about all backfills of all DAGs of a batch. The caller holds the DAGs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from flow.decide.backfill import Action, Reprocess
from flow.states import BackfillState
from flow.store import arrays
from flow.store.connect import Conn
from flow.store.runs import STARTED, StartedRun


class ActiveBackfill(NamedTuple):
    """A backfill that has not ended, its row locked. `present`: its DAG is in its file."""

    backfill_id: int
    dag_id: str
    state: BackfillState
    max_active_runs: int
    reprocess: Reprocess
    tasks: list[str] | None
    created_by: str
    present: bool


class UnderWay(NamedTuple):
    """Its runs that have not ended; `queued` are those that may start."""

    running: int = 0
    queued: int = 0


class OpenInterval(NamedTuple):
    """An interval whose turn has come, and the key of the run that it has, None without one."""

    backfill_id: int
    ordinal: int
    start: datetime
    action: Action
    run_key: int | None

    @property
    def key(self) -> tuple[int, int]:
        """What names it."""
        return self.backfill_id, self.ordinal


# Index backfill_active. Held until the commit, so that none of their runs goes back to the queue
# between the look at them and the end of a backfill.
_LOCK = """
select b.backfill_id, b.dag_id, b.state, b.max_active_runs, b.reprocess, b.tasks,
  b.created_by, d.present
from backfill b join dag d on d.dag_id = b.dag_id
where b.dag_id = any(%(dag_ids)s::text[]) and b.ended_at is null
order by b.backfill_id for no key update of b
"""

# Index run_of_backfill. Exact under the DAGs' locks.
_UNDER_WAY = """
select backfill_id, count(*) filter (where state = 'running'),
  count(*) filter (where state = 'queued' and not paused)
from run where backfill_id = any(%(ids)s::bigint[]) and state in ('queued', 'running')
group by backfill_id
"""

# The next intervals of each, as many as it has room for; indexes backfill_open and run_of_interval.
_NEXT = """
select i.backfill_id, i.ordinal, i.data_interval_start, i.action, r.run_key
from unnest(%(ids)s::bigint[], %(room)s::int[]) as b(backfill_id, room),
  lateral (select o.* from backfill_interval o
    where o.backfill_id = b.backfill_id and o.action <> 'skip' and o.run_key is null
    order by o.ordinal limit b.room) as i
  left join run r on r.dag_id = i.dag_id and r.data_interval_start = i.data_interval_start
    and r.interval_run
order by i.backfill_id, i.ordinal
"""

# Queued runs, of the latest version. An interval that has got a run meanwhile, by a command that
# holds nothing, is not returned. The first interval of a backfill waits for no past.
_CREATE = """
with made as (
  insert into run (dag_id, version, run_id, run_type, state, logical_date, data_interval_start,
    data_interval_end, interval_run, conf, backfill_id, selected, ignores_past, priority)
  select i.dag_id, d.version, k.run_id, 'backfill', 'queued', i.data_interval_start,
    i.data_interval_start, i.data_interval_end, true, coalesce(b.conf, '{}'), b.backfill_id,
    b.tasks, i.ordinal = 1, b.priority
  from unnest(%(ids)s::bigint[], %(ordinals)s::int[], %(run_ids)s::text[])
      as k(backfill_id, ordinal, run_id)
    join backfill_interval i on i.backfill_id = k.backfill_id and i.ordinal = k.ordinal
    join backfill b on b.backfill_id = i.backfill_id
    join dag d on d.dag_id = i.dag_id
  order by i.backfill_id, i.ordinal
  on conflict do nothing
  returning run_key, dag_id, data_interval_start, backfill_id)
update backfill_interval i set run_key = m.run_key
from made m
where i.backfill_id = m.backfill_id and i.data_interval_start = m.data_interval_start
  and i.action <> 'skip'
returning i.backfill_id, i.ordinal
"""

# Runs that were put back into the queue to be done again. What has no row ended with another
# version: it is only run where it is selected.
_ADOPT = """
with adopted as (
  update run r set backfill_id = b.backfill_id, ignores_past = i.ordinal = 1,
    priority = b.priority, conf = coalesce(b.conf, r.conf),
    version = case b.version when 'latest' then d.version else r.version end,
    selected = case when b.tasks is not null then array(
      select unnest(b.tasks) union select unnest(r.selected) union
      select t.task_id from task_hot t where r.selected is null and t.run_key = r.run_key) end
  from unnest(%(ids)s::bigint[], %(ordinals)s::int[], %(run_keys)s::bigint[])
      as k(backfill_id, ordinal, run_key)
    join backfill_interval i on i.backfill_id = k.backfill_id and i.ordinal = k.ordinal
    join backfill b on b.backfill_id = i.backfill_id
    join dag d on d.dag_id = i.dag_id
  where r.run_key = k.run_key
  returning r.run_key, r.version, i.backfill_id, i.ordinal)
update backfill_interval i set run_key = a.run_key
from adopted a where i.backfill_id = a.backfill_id and i.ordinal = a.ordinal
returning a.run_key, a.version
"""

# With the run that is left alone, which may have come to be after the look: index run_of_interval.
_LEAVE = """
update backfill_interval i set action = 'skip', note = k.note, run_key = (
  select r.run_key from run r where r.dag_id = i.dag_id and r.interval_run
    and r.data_interval_start = i.data_interval_start)
from unnest(%(ids)s::bigint[], %(ordinals)s::int[], %(notes)s::text[])
  as k(backfill_id, ordinal, note)
where i.backfill_id = k.backfill_id and i.ordinal = k.ordinal
"""

# The first queued runs in the order of each backfill; index run_of_backfill.
_START = f"""
update run r set state = 'running', started_at = coalesce(r.started_at, clock_timestamp())
from unnest(%(ids)s::bigint[], %(room)s::int[]) as k(backfill_id, room)
  join backfill b on b.backfill_id = k.backfill_id,
  lateral (select q.run_key from run q
    where q.backfill_id = k.backfill_id and q.state = 'queued' and not q.paused
    order by case b.run_order when 'oldest' then q.logical_date end,
      q.logical_date desc limit k.room) as first
where r.run_key = first.run_key and r.state = 'queued'
returning {STARTED}
"""

# What has no interval left that has not had its turn, and no run that has not ended. A cancelled
# one makes no more. Indexes backfill_open and run_of_backfill.
_END = """
with over as (
  update backfill b set ended_at = clock_timestamp(),
    state = case b.state when 'cancelled' then b.state else 'done' end
  where b.backfill_id = any(%(ids)s::bigint[]) and b.ended_at is null
    and (b.state = 'cancelled' or not exists (select from backfill_interval i
      where i.backfill_id = b.backfill_id and i.action <> 'skip' and i.run_key is null))
    and not exists (select from run r
      where r.backfill_id = b.backfill_id and r.state in ('queued', 'running'))
  returning b.backfill_id, b.state),
freed as (
  update backfill_interval i set active = false
  from over where i.backfill_id = over.backfill_id and i.active)
select backfill_id, state from over
"""


def lock(conn: Conn, dag_ids: Sequence[str]) -> list[ActiveBackfill]:
    """Lock the active backfills of DAGs, in order of id."""
    return [
        ActiveBackfill._make(row)._replace(state=BackfillState(row[2]))
        for row in conn.execute(_LOCK, {"dag_ids": list(dag_ids)})
    ]


def under_way(conn: Conn, ids: Sequence[int]) -> dict[int, UnderWay]:
    """What backfills have under way; one that has nothing is absent."""
    rows = conn.execute(_UNDER_WAY, {"ids": list(ids)})
    return {backfill_id: UnderWay(*counts) for backfill_id, *counts in rows}


def next_intervals(conn: Conn, room: Mapping[int, int]) -> list[OpenInterval]:
    """The intervals whose turn it is, given how many runs each backfill has room for."""
    open_ = {backfill_id: count for backfill_id, count in room.items() if count > 0}
    if not open_:
        return []
    rows = conn.execute(_NEXT, {"ids": list(open_), "room": list(open_.values())})
    return [OpenInterval._make(row)._replace(action=Action(row[3])) for row in rows]


def create(conn: Conn, made: Iterable[tuple[OpenInterval, str]]) -> set[tuple[int, int]]:
    """Make the runs of intervals, under these run ids; the keys of those that got them."""
    wanted = list(made)
    if not wanted:
        return set()
    rows = conn.execute(
        _CREATE,
        {
            **_keys([interval for interval, _ in wanted]),
            "run_ids": arrays.texts([run_id for _, run_id in wanted]),
        },
    )
    return {(backfill_id, ordinal) for backfill_id, ordinal in rows}


def adopt(conn: Conn, intervals: Sequence[OpenInterval]) -> dict[int, int]:
    """Give intervals their runs, which the caller holds and has put back into the queue.

    The versions that these have now, by run_key.
    """
    if not intervals:
        return {}
    run_keys = arrays.numbers([one.run_key for one in intervals])
    rows = conn.execute(_ADOPT, {**_keys(intervals), "run_keys": run_keys})
    return dict(rows.fetchall())


def leave(conn: Conn, left: Sequence[tuple[OpenInterval, str]]) -> None:
    """Leave intervals alone, for these reasons."""
    if left:
        notes = arrays.texts([note for _, note in left])
        conn.execute(_LEAVE, {**_keys([interval for interval, _ in left]), "notes": notes})


def start(conn: Conn, room: Mapping[int, int]) -> list[StartedRun]:
    """Start the first queued runs of backfills that have room."""
    open_ = {backfill_id: count for backfill_id, count in room.items() if count > 0}
    if not open_:
        return []
    rows = conn.execute(_START, {"ids": list(open_), "room": list(open_.values())})
    return [StartedRun._make(row) for row in rows]


def end(conn: Conn, ids: Sequence[int]) -> dict[int, BackfillState]:
    """End the backfills that have nothing left to do, and free their intervals; those, by id."""
    if not ids:
        return {}
    rows = conn.execute(_END, {"ids": list(ids)})
    return {backfill_id: BackfillState(state) for backfill_id, state in rows}


def _keys(intervals: Sequence[OpenInterval]) -> dict[str, str]:
    return {
        "ids": arrays.numbers([one.backfill_id for one in intervals]),
        "ordinals": arrays.numbers([one.ordinal for one in intervals]),
    }
