"""DAGs, their versions, and the files they come from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from flow.store.connect import Conn
from flow.store.read.page import Page, Total


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
    """A DAG file that cannot be imported."""

    file: str
    line: int | None
    error: str
    since: datetime
    dags: list[str]


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


_COLUMNS = """d.dag_id, d.paused, d.schedule, d.timezone,
  case when not d.paused and d.present then d.next_run_at end, d.owner, d.tags, d.file, d.version,
  exists (select from dag_file f where f.path = d.file and f.error is not null),
  d.max_active_runs, d.pause_reason, d.catchup"""

# The table has a row per DAG, 20,000 at most, so conditions are looked at row by row; `failed`
# costs one probe of index run_by_date for each of them.
_MATCHING = """
from dag d
where d.present
  and (%(tags)s::text[] is null or d.tags && %(tags)s::text[])
  and (%(owner)s::text is null or d.owner = %(owner)s)
  and (%(paused)s::bool is null or d.paused = %(paused)s)
  and (not %(failed)s::bool or (select r.state from run r where r.dag_id = d.dag_id
    order by r.logical_date desc, r.run_key desc limit 1) = 'failed')
"""

_LIST = f"select {_COLUMNS} {_MATCHING} order by d.dag_id limit %(limit)s"
_COUNT = f"select count(*) {_MATCHING}"
_ONE = f"select {_COLUMNS} from dag d where d.dag_id = %(dag_id)s"

# `for no key update` is added where a verb changes what it reads.
_STORED = """
select d.dag_id, d.present, d.paused, d.version, d.timezone, d.description, d.line,
  d.max_active_runs, d.cursor_at, d.next_run_at, v.spec_hash
from dag d join dag_version v on v.dag_id = d.dag_id and v.number = d.version
where d.dag_id = any(%(dag_ids)s::text[])
order by d.dag_id
"""

_VERSIONS = """
select number, created_at, spec_hash, code_hash, bundle, bundle_version
from dag_version where dag_id = %(dag_id)s order by number desc limit %(limit)s
"""

_IDS = "select dag_id from dag where present order by dag_id"

# A few thousand files, of which few are broken.
_ERRORS = """
select f.path, f.error_line, f.error, f.error_since,
  array(select d.dag_id from dag d where d.file = f.path and d.present order by d.dag_id)
from dag_file f where f.error is not null order by f.path limit %(limit)s
"""
_COUNT_ERRORS = "select count(*) from dag_file where error is not null"

_FILE = """
select path, parsed_at, seconds, error, error_line, error_since, traceback, output, warnings
from dag_file where path = %(path)s
"""
_FILES = "select path from dag_file order by path"


def page(
    conn: Conn,
    *,
    tags: Sequence[str] = (),
    owner: str | None = None,
    paused: bool | None = None,
    failed: bool = False,
    limit: int | None,
) -> Page[Dag]:
    """DAGs in order of id. `tags`: any of them; `failed`: their latest run failed."""
    asked = {
        "tags": list(tags) or None,
        "owner": owner,
        "paused": paused,
        "failed": failed,
        "limit": limit,
    }
    rows = [_dag(row) for row in conn.execute(_LIST, asked)]
    if limit is None or len(rows) < limit:
        return Page(rows, Total(len(rows)))
    found = conn.execute(_COUNT, asked).fetchone()
    return Page(rows, Total(found[0] if found else 0))


def one(conn: Conn, dag_id: str) -> Dag | None:
    """A DAG, also one that its file no longer defines."""
    row = conn.execute(_ONE, {"dag_id": dag_id}).fetchone()
    return _dag(row) if row else None


def stored(conn: Conn, dag_ids: Sequence[str], *, lock: bool = False) -> list[StoredDag]:
    """What operations need of DAGs, in order of id; those that do not exist are left out.

    `lock` takes their rows FOR NO KEY UPDATE, in order of id; it waits for whoever holds one.
    """
    statement = _STORED + "for no key update of d" if lock else _STORED
    rows = conn.execute(statement, {"dag_ids": list(dag_ids)})
    return [StoredDag._make(row) for row in rows]


def versions(conn: Conn, dag_id: str, limit: int | None) -> list[Version]:
    """The versions of a DAG, newest first."""
    rows = conn.execute(_VERSIONS, {"dag_id": dag_id, "limit": limit})
    return [Version._make(row) for row in rows]


def ids(conn: Conn) -> list[str]:
    """The ids of all present DAGs, for suggestions."""
    return [row[0] for row in conn.execute(_IDS)]


def errors(conn: Conn, limit: int | None) -> Page[FileError]:
    """Files that cannot be imported, with the DAGs that live on in their last good version."""
    rows = [FileError._make(row) for row in conn.execute(_ERRORS, {"limit": limit})]
    if limit is None or len(rows) < limit:
        return Page(rows, Total(len(rows)))
    found = conn.execute(_COUNT_ERRORS).fetchone()
    return Page(rows, Total(found[0] if found else 0))


def file(conn: Conn, path: str) -> FileReport | None:
    """What the last import of a file said."""
    row = conn.execute(_FILE, {"path": path}).fetchone()
    return FileReport._make(row) if row else None


def files(conn: Conn) -> list[str]:
    """The paths of all DAG files."""
    return [row[0] for row in conn.execute(_FILES)]


def _dag(row: tuple[Any, ...]) -> Dag:
    stored: str = row[-1]
    return Dag._make(row)._replace(catchup={"true": True, "false": False}.get(stored, stored))
