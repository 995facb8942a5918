"""Intervals of timetables of the user's own: evaluated ahead, kept as rows.

Rows rise in start and in `run_after`. Of those whose run has been made the last one stays: the
timetable goes on from it. Callers that write hold the DAG's row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from flow.graph import DagSpec
from flow.graph.plan import with_rows
from flow.store import arrays
from flow.store.connect import Conn
from flow.store.text import storable_or_none
from flow.timetables import Custom, Evaluation, Row
from flow.timetables.custom import MOST_ROWS
from flow.timetables.zone import as_utc

_PAUSE: Final = 20.0
"""Seconds after which a timetable is evaluated again at the earliest, …"""
_PAUSE_AFTER_ERROR: Final = 300.0
"""… and when it failed or had no more."""


class Position(NamedTuple):
    """Where a schedule stands: the last interval that has got its run, and the cursor."""

    last: Row | None
    cursor: datetime | None


class Failed(NamedTuple):
    """Why a timetable cannot be evaluated any more."""

    error: str
    since: datetime
    traceback: str | None


_READ = """
select dag_id, data_interval_start, data_interval_end, run_after from dag_interval
where dag_id = any(%(dag_ids)s::text[]) order by dag_id, data_interval_start
"""

# The last row before the cursor; a primary key and one step back in the other.
_POSITION = """
select d.cursor_at, i.data_interval_start, i.data_interval_end, i.run_after
from dag d left join lateral (select i.data_interval_start, i.data_interval_end, i.run_after
    from dag_interval i where i.dag_id = d.dag_id and i.data_interval_start < d.cursor_at
    order by i.data_interval_start desc limit 1) as i on true
where d.dag_id = %(dag_id)s
"""

_DELETE = """
delete from dag_interval where dag_id = %(dag_id)s
  and not (data_interval_start = any(%(kept)s::timestamptz[]))
"""

_INSERT = """
insert into dag_interval (dag_id, data_interval_start, data_interval_end, run_after)
select %(dag_id)s, n.data_interval_start, n.data_interval_end, n.run_after
from unnest(%(start)s::timestamptz[], %(end)s::timestamptz[], %(run_after)s::timestamptz[])
  as n(data_interval_start, data_interval_end, run_after)
on conflict (dag_id, data_interval_start) do update
  set data_interval_end = excluded.data_interval_end, run_after = excluded.run_after
"""

_NOTE = """
insert into dag_evaluation as e (dag_id, refresh_at, low, dry, error, error_since, traceback)
values (%(dag_id)s, clock_timestamp() + make_interval(secs => %(pause)s), %(low)s, %(dry)s,
  %(error)s::text, case when %(error)s::text is not null then clock_timestamp() end, %(traceback)s)
on conflict (dag_id) do update set
  refresh_at = excluded.refresh_at, low = excluded.low, dry = excluded.dry,
  error = excluded.error, traceback = excluded.traceback,
  error_since = case when excluded.error is not null
    then coalesce(e.error_since, excluded.error_since) end
"""

_FORGET = (
    "delete from dag_interval where dag_id = any(%(dag_ids)s::text[])",
    "delete from dag_evaluation where dag_id = any(%(dag_ids)s::text[])",
)

# Few DAGs have such a timetable, and fewer are past their pause. Counted are the intervals that
# may still get a run: with a full catchup those from the cursor on, else those that are not due.
# Taken by one processor, and again only after a pause: the import may fail.
_TAKE_LOW = """
update dag_evaluation e set refresh_at = clock_timestamp() + make_interval(secs => %(pause)s)
from dag d
where d.dag_id = e.dag_id and e.refresh_at <= clock_timestamp() and d.present
  and (select count(*) from (select from dag_interval i where i.dag_id = d.dag_id
      and (d.cursor_at is null or i.data_interval_start >= d.cursor_at)
      and (d.catchup = 'true' or i.run_after > clock_timestamp())
      limit e.low) as coming) < e.low
returning d.file
"""

_FAILED = """
select error, error_since, traceback from dag_evaluation
where dag_id = %(dag_id)s and error is not null
"""


def complete(conn: Conn, specs: Mapping[str, DagSpec]) -> dict[str, DagSpec]:
    """Specs by DAG, those with a timetable of the user's own with its rows in it."""
    custom = [dag_id for dag_id, spec in specs.items() if isinstance(spec.timetable, Custom)]
    found = dict(specs)
    if custom:
        rows = _rows(conn, custom)
        for dag_id in custom:
            found[dag_id] = with_rows(specs[dag_id], rows.get(dag_id, ()))
    return found


def completed(conn: Conn, spec: DagSpec) -> DagSpec:
    """A spec, with the rows in it that its timetable needs."""
    return complete(conn, {spec.dag_id: spec})[spec.dag_id]


def position(conn: Conn, dag_id: str) -> Position:
    """Where the schedule of a DAG stands; of one that is not known nowhere."""
    row = conn.execute(_POSITION, {"dag_id": dag_id}).fetchone()
    if row is None:
        return Position(None, None)
    return Position(None if row[1] is None else Row(*map(as_utc, row[1:])), row[0])


def store(conn: Conn, dag_id: str, evaluation: Evaluation) -> bool:
    """Keep what a timetable has said; whether the rows changed.

    After an error the rows stay, and those that were given before it go on from the last of them.
    """
    before = _rows(conn, [dag_id]).get(dag_id, ())
    last = position(conn, dag_id).last
    if evaluation.error is None:
        # Some may have got their runs since the timetable was asked.
        coming = [row for row in evaluation.rows if last is None or row.start > last.start]
        wanted = coming if last is None else [last, *coming]
    else:
        end = before[-1] if before else None
        fresh = (row for row in evaluation.rows if end is None or _follows(row, end))
        wanted = [*before, *fresh]
    _note(conn, dag_id, evaluation)
    if tuple(wanted) == before:
        return False
    conn.execute(_DELETE, {"dag_id": dag_id, "kept": arrays.times(row.start for row in wanted)})
    start, end_, run_after = zip(*wanted, strict=True) if wanted else ((), (), ())
    conn.execute(
        _INSERT,
        {
            "dag_id": dag_id,
            "start": arrays.times(start),
            "end": arrays.times(end_),
            "run_after": arrays.times(run_after),
        },
    )
    return True


def forget(conn: Conn, dag_ids: Iterable[str]) -> None:
    """Drop the rows of DAGs that have another timetable now."""
    for statement in _FORGET:
        conn.execute(statement, {"dag_ids": list(dag_ids)})


def take_low(conn: Conn) -> set[str]:
    """DAG files with a timetable that is to be evaluated again now, before it runs out."""
    rows = conn.execute(_TAKE_LOW, {"pause": _PAUSE_AFTER_ERROR})
    return {row[0] for row in rows}


def failed(conn: Conn, dag_id: str) -> Failed | None:
    """Why the timetable of a DAG cannot be evaluated; None: it can, or it is not the user's own."""
    row = conn.execute(_FAILED, {"dag_id": dag_id}).fetchone()
    return Failed._make(row) if row else None


def _rows(conn: Conn, dag_ids: Sequence[str]) -> dict[str, tuple[Row, ...]]:
    found: dict[str, list[Row]] = {}
    for dag_id, *row in conn.execute(_READ, {"dag_ids": list(dag_ids)}):
        found.setdefault(dag_id, []).append(Row(*map(as_utc, row)))
    return {dag_id: tuple(rows) for dag_id, rows in found.items()}


def _follows(row: Row, end: Row) -> bool:
    return row.start > end.start and row.run_after >= end.run_after


def _note(conn: Conn, dag_id: str, evaluation: Evaluation) -> None:
    ended = evaluation.error is not None or evaluation.dry
    # One that has less than its fill of intervals, such as a weekly one, is no closer to its end.
    low = MOST_ROWS + 1 if ended else len(evaluation.rows) // 2
    conn.execute(
        _NOTE,
        {
            "dag_id": dag_id,
            "pause": _PAUSE_AFTER_ERROR if ended else _PAUSE,
            "low": low,
            "dry": evaluation.dry,
            "error": storable_or_none(evaluation.error),
            "traceback": storable_or_none(evaluation.traceback),
        },
    )
