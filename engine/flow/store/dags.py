"""Storing what a DAG file defines: DAG rows, their versions, and where their schedules stand.

Locks: existing DAG rows in order of id, then new ones in order of id, then the file's row. States
are read in a statement of their own after the lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from flow.graph import DagSpec, decode
from flow.graph.index import binding_run_limit, pools_of
from flow.graph.plan import cursor_from_now, plan
from flow.store import dag_files, dag_intervals, schedule, specs, wakeups
from flow.store.connect import Conn
from flow.store.dag_files import Failure, ParsedFile
from flow.store.schedule import Position
from flow.store.text import storable, storable_or_none
from flow.timetables import Custom, Evaluation
from flow.timetables.zone import as_utc


class Definition(NamedTuple):
    """A DAG as its file defines it, checked."""

    spec: DagSpec
    body: bytes
    """Canonical JSON of `spec`."""
    spec_hash: str
    line: int
    """Where the file makes it."""
    schedule: str
    """In words."""
    evaluation: Evaluation | None = None
    """What its timetable says of the intervals to come, where that is a class of the user's."""


@dataclass(slots=True)
class Stored:
    """What storing a file changed."""

    versions: dict[str, int] = field(default_factory=dict)
    """Number of the new version by DAG."""
    returned: list[str] = field(default_factory=list)
    """DAGs that had been absent or another file's."""
    vanished: list[str] = field(default_factory=list)
    """DAGs that the file no longer defines."""
    conflicts: dict[str, str] = field(default_factory=dict)
    """The file that owns it by DAG that was refused."""
    written: bool = False
    """Something was written, be it about the file only."""
    wake: bool = False
    """A schedule was planned anew, or a limit was moved: schedulers should look."""


class _Columns(NamedTuple):
    """Columns of a DAG row that its file decides; in the order of the statements below."""

    bundle: str
    file: str
    line: int
    present: bool
    schedule: str
    timezone: str
    catchup: str
    owner: str
    tags: list[str]
    description: str | None
    max_active_runs: int
    concurrency: int | None


class _Row(NamedTuple):
    """A DAG row as it stands, with its latest version."""

    dag_id: str
    paused: bool
    version: int
    spec_hash: str
    code_hash: str
    cursor: datetime | None
    columns: _Columns


# What the file defines and what it owned before, and the time once all of it is locked. Primary key
# and index dag_file_index.
_LOCK = """
select array(select dag_id from dag
    where dag_id = any(%(dag_ids)s::text[]) or file = any(%(paths)s::text[])
    order by dag_id for no key update),
  clock_timestamp()
"""

_NAMES = ", ".join(_Columns._fields)
_PLACES = ", ".join(f"%({name})s" for name in _Columns._fields)

_READ = f"""
select d.dag_id, d.paused, d.version, v.spec_hash, v.code_hash, d.cursor_at, {_NAMES}
from dag d
join (select dag_id as id, number, spec_hash, code_hash from dag_version) as v
  on v.id = d.dag_id and v.number = d.version
where d.dag_id = any(%(dag_ids)s::text[])
"""

# A new DAG with its spec and first version in one round trip: most files of a deployment are new,
# and have one DAG. A row that another parser has just inserted stays as it is.
_INSERT = f"""
with made as (
  insert into dag (dag_id, paused, version, {_NAMES}, cursor_at, next_start, next_end, next_run_at)
  values (%(dag_id)s, %(paused)s, 1, {_PLACES}, %(cursor)s, %(next_start)s, %(next_end)s,
    %(next_run_at)s)
  on conflict do nothing returning dag_id),
kept as (
  insert into spec (hash, body, head) select %(spec_hash)s, %(body)s, %(head)s from made
  on conflict do nothing)
insert into dag_version (dag_id, number, spec_hash, code_hash, code, modules, bundle,
  max_active_tasks, pools)
select dag_id, 1, %(spec_hash)s, %(code_hash)s, %(code)s, %(modules)s, %(bundle)s,
  %(max_active_tasks)s, %(pools)s
from made
"""

_UPDATE = f"update dag set ({_NAMES}) = ({_PLACES}) where dag_id = %(dag_id)s"

_SET_VERSION = "update dag set version = %(number)s where dag_id = %(dag_id)s"

_ADD_VERSION = """
insert into dag_version (dag_id, number, spec_hash, code_hash, code, modules, bundle,
  max_active_tasks, pools)
values (%(dag_id)s, %(number)s, %(spec_hash)s, %(code_hash)s, %(code)s, %(modules)s, %(bundle)s,
  %(max_active_tasks)s, %(pools)s)
"""

_HIDE = """
update dag set present = false where dag_id = any(%(dag_ids)s::text[]) and present
returning dag_id
"""

_OWNERS = "select dag_id, file from dag where dag_id = any(%(dag_ids)s::text[])"


def store(
    conn: Conn, file: ParsedFile, definitions: Sequence[Definition], *, paused: bool
) -> Stored:
    """Store all that a file defines, in the caller's transaction.

    `paused` is how a new DAG starts unless it says so itself. An id that another present file owns
    is refused: that file keeps it, and this one gets an error that names both. Send `WAKE` after
    the commit when the answer says so.
    """
    return _Storing(conn, file, paused).store({one.spec.dag_id: one for one in definitions})


def hide(conn: Conn, paths: Sequence[str]) -> list[str]:
    """Forget files that are gone; returns their DAGs, which are absent now and keep everything."""
    locked, _ = _lock(conn, (), paths)
    rows = _read(conn, locked)
    gone = [row.dag_id for row in rows.values() if row.columns.file in paths]
    hidden = _hide(conn, gone)
    dag_files.forget(conn, paths)
    return hidden


class _Storing:
    """One file being stored."""

    def __init__(self, conn: Conn, file: ParsedFile, paused: bool) -> None:
        self._conn = conn
        self._file = file
        self._paused = paused
        self._stored = Stored()
        self._planned: list[Position] = []
        self._limits_moved: list[str] = []

    def store(self, definitions: Mapping[str, Definition]) -> Stored:
        stored = self._stored
        locked, now = _lock(self._conn, definitions, [self._file.path])
        rows = _read(self._conn, locked)
        for dag_id in sorted(definitions):
            definition = definitions[dag_id]
            row = rows.get(dag_id)
            if row is None:
                self._insert(definition, now)
            elif row.columns.present and row.columns.file != self._file.path:
                stored.conflicts[dag_id] = row.columns.file
            else:
                self._update(row, definition, now)
        self._drop(row.dag_id for row in rows.values() if row.dag_id not in definitions)
        self._finish(definitions)
        return stored

    def _insert(self, definition: Definition, now: datetime) -> None:
        spec = definition.spec
        # The intervals of a timetable of the user's own are rows that follow the DAG's.
        own = isinstance(spec.timetable, Custom)
        at = None if own else _position(spec, cursor_from_now(spec, None, now), now)
        values = {
            **self._version(definition, 1),
            **specs.columns(definition.body, spec),
            **_columns(self._file, definition)._asdict(),
            **(at or Position(spec.dag_id, None, None, None, None))._asdict(),
            "paused": self._paused if spec.paused_at_creation is None else spec.paused_at_creation,
        }
        if not self._conn.execute(_INSERT, values).rowcount:
            # Another parser was quicker: with this file, then all is said, or with another one.
            owner = _owners(self._conn, [spec.dag_id])[spec.dag_id]
            if owner != self._file.path:
                self._stored.conflicts[spec.dag_id] = owner
            return
        self._note_version(spec.dag_id, 1)
        self._store_intervals(definition, spec)
        if at is None:
            self._plan(spec, None, now)
        else:
            self._stored.wake = True

    def _update(self, row: _Row, definition: Definition, now: datetime) -> None:
        spec = definition.spec
        columns = _columns(self._file, definition)
        returned = not row.columns.present
        if columns != row.columns:
            self._conn.execute(_UPDATE, {"dag_id": row.dag_id, **columns._asdict()})
            self._stored.written = True
        if returned:
            self._stored.returned.append(row.dag_id)
        if returned or _limits(columns) != _limits(row.columns):
            self._limits_moved.append(row.dag_id)
        if (definition.spec_hash, self._file.code_hash) != (row.spec_hash, row.code_hash):
            self._add_version(definition, row.version + 1)
            self._conn.execute(_SET_VERSION, {"dag_id": row.dag_id, "number": row.version + 1})
        before = self._spec_before(row, definition)
        others = self._store_intervals(definition, before)
        if returned or _rhythm(before) != _rhythm(spec):
            self._plan(spec, row.cursor, now, afresh=True)
        elif others or _schedule(before) != _schedule(spec):
            self._plan(spec, row.cursor, now)

    def _spec_before(self, row: _Row, definition: Definition) -> DagSpec:
        if row.spec_hash == definition.spec_hash:
            return definition.spec
        return decode(specs.load(self._conn, [row.spec_hash])[row.spec_hash])

    def _add_version(self, definition: Definition, number: int) -> None:
        specs.store(self._conn, definition.spec_hash, definition.body, definition.spec)
        self._conn.execute(_ADD_VERSION, self._version(definition, number))
        self._note_version(definition.spec.dag_id, number)

    def _version(self, definition: Definition, number: int) -> dict[str, Any]:
        """A version's columns."""
        return {
            "dag_id": definition.spec.dag_id,
            "number": number,
            "spec_hash": definition.spec_hash,
            "code_hash": self._file.code_hash,
            "code": definition.spec.code,
            "modules": Jsonb(dict(self._file.places)),
            "bundle": self._file.bundle,
            "max_active_tasks": binding_run_limit(definition.spec),
            "pools": Jsonb(pools_of(definition.spec)),
        }

    def _note_version(self, dag_id: str, number: int) -> None:
        self._stored.versions[dag_id] = number
        self._stored.written = True

    def _store_intervals(self, definition: Definition, before: DagSpec) -> bool:
        """Keep the intervals of a timetable of the user's own; whether others come now."""
        dag_id, evaluation = definition.spec.dag_id, definition.evaluation
        if evaluation is not None:
            changed = dag_intervals.store(self._conn, dag_id, evaluation)
            self._stored.written = self._stored.written or changed
            return changed
        if isinstance(before.timetable, Custom):
            dag_intervals.forget(self._conn, [dag_id])
        return False

    def _plan(
        self, spec: DagSpec, cursor: datetime | None, now: datetime, *, afresh: bool = False
    ) -> None:
        spec = dag_intervals.completed(self._conn, spec)
        if afresh or cursor is None:
            cursor = cursor_from_now(spec, cursor, now)
        self._planned.append(_position(spec, cursor, now))

    def _drop(self, dag_ids: Iterable[str]) -> None:
        self._stored.vanished = _hide(self._conn, list(dag_ids))

    def _finish(self, definitions: Mapping[str, Definition]) -> None:
        stored = self._stored
        schedule.move(self._conn, self._planned)
        # What waits for a limit, or for the DAG to come back, is not woken by anything else.
        wakeups.wake_named(self._conn, [("dag", dag_id) for dag_id in self._limits_moved])
        failure = _conflict(self._file.path, stored.conflicts, definitions)
        warnings = [*self._file.warnings, *_dry(definitions)]
        file = self._file._replace(warnings=warnings)
        put = dag_files.put(self._conn, file, failure, list(stored.conflicts))
        stored.written = stored.written or put or bool(stored.vanished)
        stored.wake = stored.wake or bool(self._planned or self._limits_moved)


def _lock(conn: Conn, dag_ids: Iterable[str], paths: Sequence[str]) -> tuple[list[str], datetime]:
    """The DAGs, which are locked now, and the database's time."""
    values = {"dag_ids": list(dag_ids), "paths": list(paths)}
    row = conn.execute(_LOCK, values).fetchone()
    assert row is not None
    return row[0], as_utc(row[1])


def _position(spec: DagSpec, cursor: datetime | None, now: datetime) -> Position:
    return schedule.position(spec.dag_id, cursor, plan(spec, cursor, now))


def _read(conn: Conn, dag_ids: Sequence[str]) -> dict[str, _Row]:
    if not dag_ids:
        return {}
    fixed = len(_Row._fields) - 1
    rows = conn.execute(_READ, {"dag_ids": list(dag_ids)})
    return {row[0]: _Row._make((*row[:fixed], _Columns._make(row[fixed:]))) for row in rows}


def _hide(conn: Conn, dag_ids: Sequence[str]) -> list[str]:
    if not dag_ids:
        return []
    return sorted(row[0] for row in conn.execute(_HIDE, {"dag_ids": list(dag_ids)}))


def _owners(conn: Conn, dag_ids: Sequence[str]) -> dict[str, str]:
    return dict(conn.execute(_OWNERS, {"dag_ids": list(dag_ids)}))


def _columns(file: ParsedFile, definition: Definition) -> _Columns:
    spec = definition.spec
    owners = sorted({task.owner for task in spec.tasks})
    return _Columns(
        bundle=file.bundle,
        file=file.path,
        line=definition.line,
        present=True,
        schedule=definition.schedule,
        timezone=spec.timezone,
        catchup=str(spec.catchup).lower(),
        owner=storable(", ".join(owners)),
        tags=[storable(tag) for tag in spec.tags],
        description=storable_or_none(spec.description),
        max_active_runs=spec.max_active_runs,
        concurrency=spec.concurrency,
    )


def _rhythm(spec: DagSpec) -> tuple[Any, ...]:
    """What makes another schedule of it: such a DAG goes on as after a pause."""
    return spec.timetable, spec.catchup


def _schedule(spec: DagSpec) -> tuple[Any, ...]:
    """What planning reads of a spec."""
    return *_rhythm(spec), spec.start_date, spec.end_date


def _limits(columns: _Columns) -> tuple[int, int | None]:
    return columns.max_active_runs, columns.concurrency


def _dry(definitions: Mapping[str, Definition]) -> list[str]:
    """A warning for each timetable of the user's own that has come to its end."""
    found = []
    for dag_id, definition in sorted(definitions.items()):
        evaluation = definition.evaluation
        if evaluation is not None and evaluation.dry:
            last = evaluation.rows[-1].start.isoformat() if evaluation.rows else None
            after = f" after the one that starts at {last}" if last else ""
            found.append(
                f"DAG {dag_id!r}: its timetable has no interval{after}, so its runs come to an end"
            )
    return found


def _conflict(
    path: str, owners: Mapping[str, str], definitions: Mapping[str, Definition]
) -> Failure | None:
    if not owners:
        return None
    first = min(owners)
    others = f" (and {len(owners) - 1} more of its DAGs)" if len(owners) > 1 else ""
    return Failure(
        f"DAG {first!r} of {path} is defined by {owners[first]} too, which had it first{others}: "
        "give one of them another id, or delete one",
        definitions[first].line,
    )
