"""The runs that a grid shows as its columns, with a byte for the state of each of their tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from flow.states import LOUDEST_FIRST
from flow.store import arrays
from flow.store.connect import Conn


class Place(NamedTuple):
    """Where a run stands among those of its DAG; places compare in the order of the columns."""

    logical_date: datetime
    run_key: int


class GridRun(NamedTuple):
    """One column."""

    run_key: int
    run_id: str
    run_type: str
    state: str
    logical_date: datetime
    started_at: datetime | None
    ended_at: datetime | None
    version: int

    @property
    def place(self) -> Place:
        """Where it stands among the runs of its DAG."""
        return Place(self.logical_date, self.run_key)


Tallies = dict[str, int]
"""How many instances of a task are in each state."""


class RunStates(NamedTuple):
    """The states of the tasks of a run that have a row.

    `states` has a byte for each of `task_ids`: the place in `LOUDEST_FIRST` of the loudest state
    of its instances. `mapped` has the tallies of those that are mapped.
    """

    run_key: int
    task_ids: tuple[str, ...]
    states: bytes
    mapped: dict[str, Tallies]


class InstanceStates(NamedTuple):
    """The states of the instances of a mapped task of a run, by map path; `total` of them exist."""

    run_key: int
    total: int
    states: dict[tuple[int, ...], int]
    """Places in `LOUDEST_FIRST`."""


_FIRST_CODE: Final = ord("A")
"""On the way from the database a state is a letter: an array of numbers would take longer."""
_FROM_LETTERS: Final = bytes.maketrans(
    bytes(range(_FIRST_CODE, _FIRST_CODE + len(LOUDEST_FIRST))), bytes(range(len(LOUDEST_FIRST)))
)
_STATE_NAMES: Final = arrays.texts(state.value for state in LOUDEST_FIRST)

_RUNS: Final = """
select run_key, run_id, run_type, state, logical_date, started_at, ended_at, version from run
where dag_id = %(dag_id)s"""
# Index run_by_date, walked from one end or from a place.
_NEWEST: Final = f"{_RUNS} order by logical_date desc, run_key desc limit %(limit)s"
_OLDER: Final = f"""{_RUNS}
  and (logical_date, run_key) < (%(date)s::timestamptz, %(run_key)s::bigint)
order by logical_date desc, run_key desc limit %(limit)s"""
_NEWER: Final = f"""{_RUNS}
  and (logical_date, run_key) > (%(date)s::timestamptz, %(run_key)s::bigint)
order by logical_date, run_key limit %(limit)s"""
_FROM: Final = f"""{_RUNS}
  and (logical_date, run_key) >= (%(date)s::timestamptz, %(run_key)s::bigint)
order by logical_date, run_key limit %(limit)s"""

# Primary key prefix of one run after the other: lateral, so that no plan reads more of the tables
# than these runs, however many they are. Runs of one version have the same ids, which travel once.
_STATES: Final = """
select asked.run_key,
  case when run.ids is distinct from lag(run.ids) over (order by asked.place) then run.ids end,
  run.states, run.mapped
from unnest(%(run_keys)s::bigint[]) with ordinality as asked(run_key, place)
cross join lateral (
  select string_agg(task_id, ' ' order by task_id) as ids,
    string_agg(chr(%(first_code)s - 1 + loudest), '' order by task_id) as states,
    json_object_agg(task_id, tallies) filter (where mapped) as mapped
  from (
    select task_id, min(array_position(%(states)s::text[], state)) as loudest,
      bool_or(mapped) as mapped, json_object_agg(state, instances) as tallies
    from (
      select t.task_id, t.state, count(*) as instances, bool_or(t.map_path <> '{}') as mapped
      from task t where t.run_key = asked.run_key group by t.task_id, t.state
    ) as tally
    group by task_id
  ) as task
) as run
order by asked.place
"""

# Primary key prefix of one run after the other.
_INSTANCES: Final = """
select asked.run_key, task.map_path, array_position(%(states)s::text[], task.state) - 1,
  task.total
from unnest(%(run_keys)s::bigint[]) with ordinality as asked(run_key, place)
cross join lateral (
  select t.map_path, t.state, count(*) over () as total from task t
  where t.run_key = asked.run_key and t.task_id = %(task_id)s and t.map_path <> '{}'
  order by t.map_path limit %(limit)s
) as task
order by asked.place, task.map_path
"""


def newest(conn: Conn, dag_id: str, limit: int) -> list[GridRun]:
    """The newest runs of a DAG, oldest of them first."""
    rows = conn.execute(_NEWEST, {"dag_id": dag_id, "limit": limit}).fetchall()
    return [GridRun._make(row) for row in reversed(rows)]


def older(conn: Conn, dag_id: str, than: Place, limit: int) -> list[GridRun]:
    """The runs next before a place, oldest of them first."""
    rows = conn.execute(_OLDER, _beside(dag_id, than, limit)).fetchall()
    return [GridRun._make(row) for row in reversed(rows)]


def newer(conn: Conn, dag_id: str, than: Place, limit: int) -> list[GridRun]:
    """The runs next after a place, oldest first."""
    return [GridRun._make(row) for row in conn.execute(_NEWER, _beside(dag_id, than, limit))]


def starting(conn: Conn, dag_id: str, at: Place, limit: int) -> list[GridRun]:
    """The runs from a place on, oldest first."""
    return [GridRun._make(row) for row in conn.execute(_FROM, _beside(dag_id, at, limit))]


def states(conn: Conn, run_keys: Sequence[int]) -> list[RunStates]:
    """The states of the tasks of some runs, in the order of the keys."""
    asked = {
        "run_keys": arrays.numbers(run_keys),
        "states": _STATE_NAMES,
        "first_code": _FIRST_CODE,
    }
    return list(_unfolded(conn.execute(_STATES, asked)))


def instances(
    conn: Conn, run_keys: Sequence[int], task_id: str, limit: int
) -> list[InstanceStates]:
    """The states of the first `limit` instances of a mapped task in those runs that have any."""
    asked = {
        "run_keys": arrays.numbers(run_keys),
        "states": _STATE_NAMES,
        "task_id": task_id,
        "limit": limit,
    }
    found: dict[int, InstanceStates] = {}
    for run_key, map_path, state, total in conn.execute(_INSTANCES, asked):
        of_run = found.setdefault(run_key, InstanceStates(run_key, total, {}))
        of_run.states[tuple(map_path)] = state
    return list(found.values())


def _unfolded(rows: Iterator[tuple[Any, ...]]) -> Iterator[RunStates]:
    task_ids: tuple[str, ...] = ()
    for run_key, ids, letters, mapped in rows:
        if letters is None:
            yield RunStates(run_key, (), b"", {})
            task_ids = ()
            continue
        if ids is not None:
            task_ids = tuple(ids.split(" "))
        yield RunStates(run_key, task_ids, letters.encode().translate(_FROM_LETTERS), mapped or {})


def _beside(dag_id: str, place: Place, limit: int) -> dict[str, Any]:
    return {
        "dag_id": dag_id,
        "date": place.logical_date,
        "run_key": place.run_key,
        "limit": limit,
    }
