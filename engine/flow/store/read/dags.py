"""DAGs, their versions, and the files they come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from flow.store.connect import Conn
from flow.store.read.page import Page, Total, number, page_of


class Dag(NamedTuple):
    """A DAG as lists show it. `next_run_at` is null while it is paused: nothing will come.

    `pause_reason` says why it is paused where no person has paused it.
    """

    dag_id: str
    paused: bool
    schedule: str
    timezone: str
    next_run_at: datetime | None
    owner: str
    tags: list[str]
    file: str
    version: int
    has_import_error: bool
    max_active_runs: int
    pause_reason: str | None
    catchup: bool | str


class Filter(NamedTuple):
    """Which DAGs are meant. `tags`: with any of them; `failed`: their latest run failed.

    `gone`: those that no file defines any more, instead of those that one does.
    """

    tags: Sequence[str] = ()
    owner: str | None = None
    paused: bool | None = None
    failed: bool = False
    gone: bool = False


ALL: Final = Filter()


class StoredDag(NamedTuple):
    """What operations need of one DAG: its place in the schedule and its latest graph."""

    dag_id: str
    present: bool
    paused: bool
    version: int
    timezone: str
    description: str | None
    line: int | None
    max_active_runs: int
    cursor_at: datetime | None
    next_run_at: datetime | None
    spec_hash: str


class Version(NamedTuple):
    """One version of a DAG."""

    number: int
    created_at: datetime
    spec_hash: str
    code_hash: str
    bundle: str
    bundle_version: str | None


class FileError(NamedTuple):
    """A DAG file that cannot be imported, or one DAG of it whose own timetable fails."""

    file: str
    line: int | None
    error: str
    since: datetime
    dags: list[str]


class BrokenFile(NamedTuple):
    """A DAG file that cannot be imported."""

    path: str
    error: str


class ImportTime(NamedTuple):
    """How long a module took to import, with all that it imported itself."""

    module: str
    seconds: float
    importer: str
    """The module that imported it; "": the DAG file."""


class FileWarnings(NamedTuple):
    """What the last import of a DAG file warned of, and where its time went."""

    file: str
    seconds: float
    warnings: list[str]
    imports: list[ImportTime]
    """The slowest ones."""


class FileReport(NamedTuple):
    """What the last import of a DAG file said."""

    file: str
    parsed_at: datetime
    seconds: float
    error: str | None
    line: int | None
    since: datetime | None
    traceback: str | None
    output: str | None
    warnings: list[str]
    imports: list[ImportTime]
    """The slowest ones."""


_COLUMNS = """d.dag_id, d.paused, d.schedule, d.timezone,
  case when not d.paused and d.present then d.next_run_at end, d.owner, d.tags, d.file, d.version,
  exists (select from dag_file f where f.path = d.file and f.error is not null)
    or exists (select from dag_evaluation e where e.dag_id = d.dag_id and e.error is not null),
  d.max_active_runs, d.pause_reason, d.catchup"""

# The table has a row per DAG, 20,000 at most, so conditions are looked at row by row; `failed`
# costs one probe of index run_by_date for each of them.
_MATCHING = """
from dag d
where d.present <> %(gone)s::bool
  and (%(tags)s::text[] is null or d.tags && %(tags)s::text[])
  and (%(owner)s::text is null or d.owner = %(owner)s)
  and (%(paused)s::bool is null or d.paused = %(paused)s)
  and (not %(failed)s::bool or (select r.state from run r where r.dag_id = d.dag_id
    order by r.logical_date desc, r.run_key desc limit 1) = 'failed')
"""

_LIST = f"select {_COLUMNS} {_MATCHING} order by d.dag_id limit %(limit)s"
_COUNT = f"select count(*) {_MATCHING}"
_ONE = f"select {_COLUMNS} from dag d where d.dag_id = %(dag_id)s"
# Primary key.
_BEHIND = f"""select {_COLUMNS} {_MATCHING} and d.dag_id > %(dag_id)s
order by d.dag_id limit %(limit)s"""
_SOME = f"select {_COLUMNS} from dag d where d.present and d.dag_id = any(%(dag_ids)s::text[])"

_STORED_COLUMNS = """
select d.dag_id, d.present, d.paused, d.version, d.timezone, d.description, d.line,
  d.max_active_runs, d.cursor_at, d.next_run_at, v.spec_hash
from dag d join dag_version v on v.dag_id = d.dag_id and v.number = d.version
"""
_STORED = f"{_STORED_COLUMNS} where d.dag_id = any(%(dag_ids)s::text[]) order by d.dag_id"
# For a verb that changes what it reads. Apart from the reading: who has waited for a lock is shown
# the row as it is then, but joined with the version that it had before.
_LOCK = """
select from dag where dag_id = any(%(dag_ids)s::text[]) order by dag_id for no key update
"""
# Index dag_due, from where the last look ended.
_DUE = f"""{_STORED_COLUMNS}
where d.present and not d.paused and d.next_run_at <= %(until)s
  and (%(after)s::timestamptz is null
    or (d.next_run_at, d.dag_id) > (%(after)s::timestamptz, %(dag_id)s))
order by d.next_run_at, d.dag_id limit %(limit)s
"""
_COUNT_PAUSED = "select count(*) from dag where present and paused"

_VERSIONS = """
select number, created_at, spec_hash, code_hash, bundle, bundle_version
from dag_version where dag_id = %(dag_id)s order by number desc limit %(limit)s
"""
# Primary keys, a few versions.
_OTHER_CODE = """
select v.dag_id, v.number
from unnest(%(dag_ids)s::text[], %(numbers)s::int[]) asked (dag_id, number)
join dag_version v using (dag_id, number)
join dag d using (dag_id)
left join dag_file f on f.path = d.file
where f.content_hash is distinct from v.code_hash
"""
_COUNT_VERSIONS = "select count(*) from dag_version where dag_id = %(dag_id)s"

_IDS = "select dag_id from dag where present order by dag_id"

# A few thousand files, of which few are broken, and few timetables of users' own.
_ERRORS = """
select f.path, f.error_line, f.error, f.error_since,
  array(select d.dag_id from dag d where d.file = f.path and d.present order by d.dag_id)
from dag_file f where f.error is not null
union all
select d.file, d.line, 'the timetable of DAG ' || d.dag_id || ' fails: ' || e.error, e.error_since,
  array[d.dag_id]
from dag_evaluation e join dag d on d.dag_id = e.dag_id
where e.error is not null and d.present
order by 1, 2, 3 limit %(limit)s
"""
_BROKEN = "select path, error from dag_file where error is not null order by path limit %(limit)s"
_COUNT_BROKEN = "select count(*) from dag_file where error is not null"
_COUNT_ERRORS = f"""
select ({_COUNT_BROKEN})
  + (select count(*) from dag_evaluation e join dag d on d.dag_id = e.dag_id
     where e.error is not null and d.present)
"""

_FILE = """
select path, parsed_at, seconds, error, error_line, error_since, traceback, output, warnings,
  imports
from dag_file where path = %(path)s
"""
# A few thousand files, of which few are worth a warning.
_WARNINGS = """
select path, seconds, warnings, imports from dag_file
where (warnings <> '{}' or seconds >= %(slow)s or path = any(%(also)s::text[]))
  and (%(path)s::text is null or path = %(path)s)
order by path
"""
_FILES = "select path from dag_file order by path"


def page(conn: Conn, wanted: Filter, limit: int | None) -> Page[Dag]:
    """DAGs in order of id."""
    asked = {**_asked(wanted), "limit": limit}
    rows = [_dag(row) for row in conn.execute(_LIST, asked)]
    return page_of(rows, limit, lambda: Total(number(conn, _COUNT, asked)))


def one(conn: Conn, dag_id: str) -> Dag | None:
    """A DAG, also one that its file no longer defines."""
    row = conn.execute(_ONE, {"dag_id": dag_id}).fetchone()
    return _dag(row) if row else None


def behind(conn: Conn, dag_id: str, limit: int, wanted: Filter = ALL) -> list[Dag]:
    """The DAGs whose ids come after one, in order of id."""
    asked = {**_asked(wanted), "dag_id": dag_id, "limit": limit}
    return [_dag(row) for row in conn.execute(_BEHIND, asked)]


def some(conn: Conn, dag_ids: Sequence[str]) -> list[Dag]:
    """Some DAGs, in no order; those that their files do not define any more are left out."""
    return [_dag(row) for row in conn.execute(_SOME, {"dag_ids": list(dag_ids)})]


def stored(conn: Conn, dag_ids: Sequence[str], *, lock: bool = False) -> list[StoredDag]:
    """What operations need of DAGs, in order of id; those that do not exist are left out.

    `lock` takes their rows FOR NO KEY UPDATE, in order of id; it waits for whoever holds one.
    """
    asked = {"dag_ids": list(dag_ids)}
    if lock:
        conn.execute(_LOCK, asked)
    return [StoredDag._make(row) for row in conn.execute(_STORED, asked)]


def due(conn: Conn, until: datetime, after: StoredDag | None, limit: int) -> list[StoredDag]:
    """DAGs for which a scheduler has something to do until then, whose turn comes first first.

    `after`: those behind the last one of a look before.
    """
    asked = {
        "until": until,
        "after": after.next_run_at if after else None,
        "dag_id": after.dag_id if after else "",
        "limit": limit,
    }
    return [StoredDag._make(row) for row in conn.execute(_DUE, asked)]


def paused(conn: Conn) -> int:
    """How many DAGs are paused."""
    return number(conn, _COUNT_PAUSED)


def versions(conn: Conn, dag_id: str, limit: int | None) -> list[Version]:
    """The versions of a DAG, newest first."""
    rows = conn.execute(_VERSIONS, {"dag_id": dag_id, "limit": limit})
    return [Version._make(row) for row in rows]


def with_other_code(conn: Conn, asked: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
    """Those of some versions, each a DAG and a number, whose code their file does not have now.

    As the DAG processors have last read the file, and the local modules that it imports.
    """
    columns = {"dag_ids": [dag_id for dag_id, _ in asked], "numbers": [n for _, n in asked]}
    return {(dag_id, number) for dag_id, number in conn.execute(_OTHER_CODE, columns)}


def version_page(conn: Conn, dag_id: str, limit: int | None) -> Page[Version]:
    """The versions of a DAG, newest first, and how many there are."""
    rows = versions(conn, dag_id, limit)
    return page_of(rows, limit, lambda: Total(number(conn, _COUNT_VERSIONS, {"dag_id": dag_id})))


def ids(conn: Conn) -> list[str]:
    """The ids of all present DAGs, for suggestions."""
    return [row[0] for row in conn.execute(_IDS)]


def broken_files(conn: Conn) -> int:
    """How many files cannot be imported."""
    return number(conn, _COUNT_BROKEN)


def broken(conn: Conn, limit: int) -> list[BrokenFile]:
    """Files that cannot be imported, in order of path."""
    return [BrokenFile._make(row) for row in conn.execute(_BROKEN, {"limit": limit})]


def errors(conn: Conn, limit: int | None) -> Page[FileError]:
    """Files that cannot be imported, with the DAGs that live on in their last good version."""
    rows = [FileError._make(row) for row in conn.execute(_ERRORS, {"limit": limit})]
    return page_of(rows, limit, lambda: Total(number(conn, _COUNT_ERRORS)))


def warnings(
    conn: Conn, slow: float, path: str | None = None, also: Sequence[str] = ()
) -> list[FileWarnings]:
    """Files with warnings, those whose import took `slow` seconds, and `also`; all, or one."""
    rows = conn.execute(_WARNINGS, {"slow": slow, "path": path, "also": list(also)})
    return [FileWarnings._make((*row[:-1], _imports(row[-1]))) for row in rows]


def file(conn: Conn, path: str) -> FileReport | None:
    """What the last import of a file said."""
    row = conn.execute(_FILE, {"path": path}).fetchone()
    return FileReport._make((*row[:-1], _imports(row[-1]))) if row else None


def files(conn: Conn) -> list[str]:
    """The paths of all DAG files."""
    return [row[0] for row in conn.execute(_FILES)]


def _asked(wanted: Filter) -> dict[str, Any]:
    return {**wanted._asdict(), "tags": list(wanted.tags) or None}


def _imports(stored: list[list[Any]]) -> list[ImportTime]:
    return [ImportTime._make(one) for one in stored]


def _dag(row: tuple[Any, ...]) -> Dag:
    stored: str = row[-1]
    return Dag._make(row)._replace(catchup={"true": True, "false": False}.get(stored, stored))
