"""Storing what DAG files define: DAG rows, their versions, and where their schedules stand.

Locks: DAG rows (`flow.store.dag_rows`), then rows of files in order of path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from flow.graph import DagSpec, decode
from flow.graph.imported import ImportedDag, ImportFailure
from flow.graph.index import binding_run_limit, pools_of
from flow.graph.plan import cursor_from_now, plan
from flow.store import dag_files, dag_intervals, dag_rows, schedule, specs, wakeups
from flow.store.connect import Conn
from flow.store.dag_files import FoundFile, ParsedFile
from flow.store.dag_rows import Columns, DagRow
from flow.store.schedule import Position
from flow.store.text import storable, storable_or_none
from flow.timetables import Custom


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


def store(
    conn: Conn, file: ParsedFile, definitions: Sequence[ImportedDag], *, paused: bool
) -> Stored:
    """Store all that one file defines, as `store_all` does."""
    return store_all(conn, [(file, definitions)], paused=paused)[0]


def store_all(
    conn: Conn,
    files: Iterable[tuple[ParsedFile, ImportFailure | Sequence[ImportedDag]]],
    *,
    paused: bool,
) -> list[Stored]:
    """Store all that files define, in the caller's transaction; what changed, file by file.

    The DAGs of a file that failed stay as they are. `paused` is how a new DAG starts unless it says
    so itself. An id that another present file owns is refused: that file keeps it, and this one
    gets an error that names both. Send `WAKE` after the commit when an answer says so.
    """
    return _Storing(conn, [_File(*one) for one in files], paused).store()


def hide(conn: Conn, paths: Sequence[str]) -> list[str]:
    """Forget files that are gone; returns their DAGs, which are absent now and keep everything."""
    rows, _ = dag_rows.lock(conn, (), paths)
    hidden = dag_rows.hide(conn, (row.dag_id for row in rows.values()))
    dag_files.forget(conn, paths)
    return sorted(hidden)


class _File:
    """A file that is being stored, and what that has changed so far."""

    def __init__(self, file: ParsedFile, found: ImportFailure | Sequence[ImportedDag]) -> None:
        self.file = file
        self.failure = found if isinstance(found, ImportFailure) else None
        sound: Sequence[ImportedDag] = () if isinstance(found, ImportFailure) else found
        self.definitions = {one.spec.dag_id: one for one in sound}
        self.stored = Stored()
        self.planned: list[Position] = []
        self.limits_moved: list[str] = []

    def note_version(self, dag_id: str, number: int) -> None:
        self.stored.versions[dag_id] = number
        self.stored.written = True

    def finish(self, hidden: Iterable[str]) -> FoundFile:
        """Sum up; what is to be said of the file itself."""
        stored = self.stored
        stored.vanished = sorted(hidden)
        stored.written = stored.written or bool(stored.vanished)
        stored.wake = stored.wake or bool(self.planned or self.limits_moved)
        warnings = [*self.file.warnings, *_dry(self.definitions)]
        conflict = _conflict(self.file.path, stored.conflicts, self.definitions)
        file = self.file._replace(warnings=warnings)
        return FoundFile(file, self.failure or conflict, list(stored.conflicts))


class _Storing:
    """Files that are being stored together."""

    def __init__(self, conn: Conn, files: Sequence[_File], paused: bool) -> None:
        self._conn = conn
        self._files = files
        self._paused = paused
        self._rows: dict[str, DagRow] = {}
        self._before: dict[str, str] = {}
        """Specs that are replaced: canonical JSON by hash."""
        self._changed: dict[str, Columns] = {}
        self._renewed: list[dict[str, Any]] = []

    def store(self) -> list[Stored]:
        """The ids that files give up are free for the others before any of them is asked for."""
        sound = {one.file.path: one for one in self._files if one.failure is None}
        hidden = self._store_dags(sound) if sound else {}
        found = [one.finish(hidden.get(one.file.path, ())) for one in self._files]
        schedule.move(self._conn, [at for one in self._files for at in one.planned])
        # What waits for a limit, or for the DAG to come back, is not woken by anything else.
        moved = [dag_id for one in self._files for dag_id in one.limits_moved]
        wakeups.wake_named(self._conn, [("dag", dag_id) for dag_id in moved])
        written = dag_files.put_all(self._conn, found)
        for one in self._files:
            one.stored.written = one.stored.written or one.file.path in written
        return [one.stored for one in self._files]

    def _store_dags(self, files: Mapping[str, _File]) -> dict[str, list[str]]:
        """Store the DAGs of files; those that each of them has given up, by path."""
        wanted = {dag_id for one in files.values() for dag_id in one.definitions}
        self._rows, now = dag_rows.lock(self._conn, wanted, files)
        hidden = self._drop(files)
        if replaced := self._replaced(files.values()):
            self._before = specs.load(self._conn, replaced)
        new = []
        for dag_id, file in _in_order(files.values()):
            row = self._rows.get(dag_id)
            if row is None:
                new.append((dag_id, file))
            elif row.columns.present and row.columns.file != file.file.path:
                file.stored.conflicts[dag_id] = row.columns.file
            else:
                self._update(file, row, file.definitions[dag_id], now)
        dag_rows.update(self._conn, self._changed)
        dag_rows.add_versions(self._conn, self._renewed)
        self._insert(new, now)
        return hidden

    def _replaced(self, files: Iterable[_File]) -> set[str]:
        """The hashes of specs in whose place others come."""
        return {
            row.spec_hash
            for file in files
            for dag_id, definition in file.definitions.items()
            if (row := self._rows.get(dag_id)) and row.spec_hash != definition.spec_hash
        }

    def _drop(self, files: Mapping[str, _File]) -> dict[str, list[str]]:
        left = [
            row.dag_id
            for row in self._rows.values()
            if row.columns.file in files and row.dag_id not in files[row.columns.file].definitions
        ]
        hidden: dict[str, list[str]] = {}
        for dag_id in dag_rows.hide(self._conn, left):
            row = self._rows[dag_id]
            hidden.setdefault(row.columns.file, []).append(dag_id)
            self._rows[dag_id] = row._replace(columns=row.columns._replace(present=False))
        return hidden

    def _insert(self, new: Sequence[tuple[str, _File]], now: datetime) -> None:
        positions = {
            dag_id: _position(spec, cursor_from_now(spec, None, now), now)
            for dag_id, file in new
            # The intervals of a timetable of the user's own are rows that follow the DAG's.
            if not isinstance((spec := file.definitions[dag_id].spec).timetable, Custom)
        }
        values = [
            self._new(file.file, file.definitions[dag_id], positions.get(dag_id))
            for dag_id, file in new
        ]
        made = dag_rows.insert(self._conn, values)
        late = [(dag_id, file) for dag_id, file in new if (dag_id, file.file.path) not in made]
        self._yield(late)
        for dag_id, file in new:
            if (dag_id, file.file.path) in made:
                file.note_version(dag_id, 1)
                definition = file.definitions[dag_id]
                self._store_intervals(file, definition, definition.spec)
                if dag_id in positions:
                    file.stored.wake = True
                else:
                    self._plan(file, definition.spec, None, now)

    def _new(
        self, file: ParsedFile, definition: ImportedDag, at: Position | None
    ) -> dict[str, Any]:
        spec = definition.spec
        at = at or Position(spec.dag_id, None, None, None, None)
        return {
            **_version(file, definition),
            **specs.columns(definition.body, spec),
            **_columns(file, definition)._asdict(),
            "cursor_at": at.cursor,
            "next_start": at.next_start,
            "next_end": at.next_end,
            "next_run_at": at.next_run_at,
            "paused": self._paused if spec.paused_at_creation is None else spec.paused_at_creation,
        }

    def _yield(self, late: Sequence[tuple[str, _File]]) -> None:
        """Another parser was quicker: with the same file, then all is said, or with another one."""
        if not late:
            return
        owners = dag_rows.owners(self._conn, [dag_id for dag_id, _ in late])
        for dag_id, file in late:
            if owners[dag_id] != file.file.path:
                file.stored.conflicts[dag_id] = owners[dag_id]

    def _update(self, file: _File, row: DagRow, definition: ImportedDag, now: datetime) -> None:
        spec, stored = definition.spec, file.stored
        columns = _columns(file.file, definition)
        returned = not row.columns.present
        if columns != row.columns:
            self._changed[row.dag_id] = columns
            self._rows[row.dag_id] = row._replace(columns=columns)
            stored.written = True
        if returned:
            stored.returned.append(row.dag_id)
        if returned or _limits(columns) != _limits(row.columns):
            file.limits_moved.append(row.dag_id)
        if (definition.spec_hash, file.file.code_hash) != (row.spec_hash, row.code_hash):
            number = row.version + 1
            version = _version(file.file, definition) | specs.columns(definition.body, spec)
            self._renewed.append(version | {"number": number})
            file.note_version(row.dag_id, number)
        before = self._spec_before(row, definition)
        others = self._store_intervals(file, definition, before)
        if returned or _rhythm(before) != _rhythm(spec):
            self._plan(file, spec, row.cursor, now, afresh=True)
        elif others or _schedule(before) != _schedule(spec):
            self._plan(file, spec, row.cursor, now)

    def _spec_before(self, row: DagRow, definition: ImportedDag) -> DagSpec:
        if row.spec_hash == definition.spec_hash:
            return definition.spec
        return decode(self._before[row.spec_hash])

    def _store_intervals(self, file: _File, definition: ImportedDag, before: DagSpec) -> bool:
        """Keep the intervals of a timetable of the user's own; whether others come now."""
        dag_id, evaluation = definition.spec.dag_id, definition.evaluation
        if evaluation is not None:
            changed = dag_intervals.store(self._conn, dag_id, evaluation)
            file.stored.written = file.stored.written or changed
            return changed
        if isinstance(before.timetable, Custom):
            dag_intervals.forget(self._conn, [dag_id])
        return False

    def _plan(
        self,
        file: _File,
        spec: DagSpec,
        cursor: datetime | None,
        now: datetime,
        *,
        afresh: bool = False,
    ) -> None:
        spec = dag_intervals.completed(self._conn, spec)
        if afresh or cursor is None:
            cursor = cursor_from_now(spec, cursor, now)
        file.planned.append(_position(spec, cursor, now))


def _in_order(files: Iterable[_File]) -> Iterator[tuple[str, _File]]:
    """Each DAG and the file that defines it, in order of id, and of path within one id."""
    pairs = [(dag_id, one.file.path, one) for one in files for dag_id in one.definitions]
    for dag_id, _, file in sorted(pairs, key=lambda pair: pair[:2]):
        yield dag_id, file


def _position(spec: DagSpec, cursor: datetime | None, now: datetime) -> Position:
    return schedule.position(spec.dag_id, cursor, plan(spec, cursor, now))


def _version(file: ParsedFile, definition: ImportedDag) -> dict[str, Any]:
    """A version's columns, but its number."""
    return {
        "dag_id": definition.spec.dag_id,
        "spec_hash": definition.spec_hash,
        "code_hash": file.code_hash,
        "code": definition.spec.code,
        "modules": dict(file.places),
        "bundle": file.bundle,
        "max_active_tasks": binding_run_limit(definition.spec),
        "pools": pools_of(definition.spec),
    }


def _columns(file: ParsedFile, definition: ImportedDag) -> Columns:
    spec = definition.spec
    owners = sorted({task.owner for task in spec.tasks})
    return Columns(
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


def _limits(columns: Columns) -> tuple[int, int | None]:
    return columns.max_active_runs, columns.concurrency


def _dry(definitions: Mapping[str, ImportedDag]) -> list[str]:
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
    path: str, owners: Mapping[str, str], definitions: Mapping[str, ImportedDag]
) -> ImportFailure | None:
    if not owners:
        return None
    first = min(owners)
    others = f" (and {len(owners) - 1} more of its DAGs)" if len(owners) > 1 else ""
    return ImportFailure(
        f"DAG {first!r} of {path} is defined by {owners[first]} too, which had it first{others}: "
        "give one of them another id, or delete one",
        definitions[first].line,
    )
