"""DAG files: what is known of each, and why it cannot be imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from flow.graph.imported import ImportFailure
from flow.store.connect import Conn
from flow.store.text import storable, storable_or_none

LOCAL_BUNDLE = "local"


class KnownFile(NamedTuple):
    """A file as it was parsed last, by whichever DAG processor."""

    path: str
    code_hash: str
    """Of the file and of `modules` (`flow.process.code`)."""
    modules: Mapping[str, str]
    """Local modules that it imported: name → absolute path."""
    variables: Mapping[str, str | None]
    """Variables that it read: key → stamp (`flow.store.variables.stamps`), None: there was none."""
    failed: bool
    """It has an error."""
    freed: bool
    """An id that it was refused because another file owned it is free now."""


class ParsedFile(NamedTuple):
    """What one parse of a file found out about the file itself."""

    path: str
    code_hash: str
    modules: Mapping[str, str] = {}
    variables: Mapping[str, str | None] = {}
    """Variables that it read, as in `KnownFile`."""
    places: Mapping[str, str] = {}
    """Of `modules`, as a version keeps them: name → path within the DAG folder."""
    seconds: float = 0.0
    """Time of the import."""
    imports: Sequence[tuple[str, float, str]] = ()
    """Its slowest imports: module, seconds, importer (of which "" is the file itself)."""
    output: str | None = None
    """The last of what the import printed."""
    warnings: Sequence[str] = ()
    bundle: str = LOCAL_BUNDLE


class FoundFile(NamedTuple):
    """What is to be written about one file."""

    file: ParsedFile
    failure: ImportFailure | None
    conflicts: Sequence[str] = ()
    """Ids that another file owns."""


_FREE = """
exists (select from unnest(f.conflicts) as c(dag_id) where not exists (
  select from dag d where d.dag_id = c.dag_id and d.present and d.file <> f.path))
"""

# Every file, once a sweep; the whole table on purpose.
_COLUMNS = f"f.path, f.content_hash, f.modules, f.variables, f.error is not null, {_FREE}"
_KNOWN = f"select {_COLUMNS} from dag_file f where f.bundle = %(bundle)s"

# A few files; primary key.
_SOME = f"select {_COLUMNS} from dag_file f where f.path = any(%(paths)s::text[])"

# Files that were refused an id which is free now. Files with conflicts are few, and this is asked
# only after an id was given up.
_FREED = f"select f.path from dag_file f where f.conflicts <> '{{}}' and {_FREE}"

# Nothing is written when nothing changed; times alone are no change. A file that goes on failing
# keeps the time since when, also when it fails for another reason now.
_PUT = """
insert into dag_file as f (path, bundle, content_hash, seconds, error, error_line, error_since,
  traceback, output, warnings, modules, variables, imports, conflicts)
select path, bundle, content_hash, seconds, error, error_line,
  case when error is not null then clock_timestamp() end,
  traceback, output, warnings, modules, variables, imports, conflicts
from json_to_recordset(%(files)s) as n(path text, bundle text, content_hash text,
  seconds double precision, error text, error_line int, traceback text, output text,
  warnings text[], modules jsonb, variables jsonb, imports jsonb, conflicts text[])
order by path
on conflict (path) do update set
  bundle = excluded.bundle, content_hash = excluded.content_hash, parsed_at = clock_timestamp(),
  seconds = excluded.seconds, error = excluded.error, error_line = excluded.error_line,
  error_since = case when excluded.error is not null
    then coalesce(f.error_since, excluded.error_since) end,
  traceback = excluded.traceback, output = excluded.output, warnings = excluded.warnings,
  modules = excluded.modules, variables = excluded.variables, imports = excluded.imports,
  conflicts = excluded.conflicts
where (f.bundle, f.content_hash, f.error, f.error_line, f.traceback, f.output, f.warnings,
    f.modules, f.variables, f.conflicts)
  is distinct from (excluded.bundle, excluded.content_hash, excluded.error, excluded.error_line,
    excluded.traceback, excluded.output, excluded.warnings, excluded.modules, excluded.variables,
    excluded.conflicts)
returning f.path
"""

_FORGET = "delete from dag_file where path = any(%(paths)s::text[])"


def known(conn: Conn, bundle: str = LOCAL_BUNDLE) -> dict[str, KnownFile]:
    """All files of a bundle by path."""
    rows = conn.execute(_KNOWN, {"bundle": bundle})
    return {row[0]: KnownFile._make(row) for row in rows}


def some(conn: Conn, paths: Sequence[str]) -> dict[str, KnownFile]:
    """Some files by path; those that have never been parsed are left out."""
    rows = conn.execute(_SOME, {"paths": list(paths)})
    return {row[0]: KnownFile._make(row) for row in rows}


def freed(conn: Conn) -> list[str]:
    """Paths of files that would get an id now which they were refused."""
    return [row[0] for row in conn.execute(_FREED)]


def put(conn: Conn, file: ParsedFile, failure: ImportFailure | None) -> bool:
    """Write what a parse of one file found; False when the row said the same already."""
    return bool(put_all(conn, [FoundFile(file, failure)]))


def put_all(conn: Conn, found: Iterable[FoundFile]) -> set[str]:
    """Write what parses found; the paths of those whose row did not say the same already.

    DAGs are not touched: the last good version of a file that fails goes on scheduling.
    """
    files = msgspec.json.encode([_columns(one) for one in found]).decode()
    return {row[0] for row in conn.execute(_PUT, {"files": files})}


def forget(conn: Conn, paths: Sequence[str]) -> None:
    """Delete the rows of files that are gone."""
    conn.execute(_FORGET, {"paths": list(paths)})


def _columns(found: FoundFile) -> dict[str, Any]:
    file, failure, conflicts = found
    return {
        "path": file.path,
        "bundle": file.bundle,
        "content_hash": file.code_hash,
        "seconds": file.seconds,
        "error": storable(failure.error) if failure else None,
        "error_line": failure.line if failure else None,
        "traceback": storable_or_none(failure.traceback) if failure else None,
        "output": storable_or_none(file.output),
        "warnings": [storable(warning) for warning in file.warnings],
        "modules": {storable(name): storable(path) for name, path in file.modules.items()},
        "variables": {storable(key): stamp for key, stamp in file.variables.items()},
        "imports": [[storable(n), s, storable(by)] for n, s, by in file.imports],
        "conflicts": sorted(conflicts),
    }
