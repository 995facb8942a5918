"""Rows of DAGs as DAG files decide them: locked, read, made and changed.

Locks: existing rows in order of id, then new ones in order of id. States are read in a statement of
their own after the lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from flow.store.connect import Conn
from flow.timetables.zone import as_utc


class Columns(NamedTuple):
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


class DagRow(NamedTuple):
    """A DAG row as it stands, with its latest version."""

    dag_id: str
    version: int
    spec_hash: str
    code_hash: str
    cursor: datetime | None
    columns: Columns


# What files define and what they owned before, and the time once all of it is locked. Primary key
# and index dag_file_index.
_LOCK = """
select array(select dag_id from dag
    where dag_id = any(%(dag_ids)s::text[]) or file = any(%(paths)s::text[])
    order by dag_id for no key update),
  clock_timestamp()
"""

_NAMES = ", ".join(Columns._fields)

_READ = f"""
select d.dag_id, d.version, v.spec_hash, v.code_hash, d.cursor_at, {_NAMES}
from dag d
join (select dag_id as id, number, spec_hash, code_hash from dag_version) as v
  on v.id = d.dag_id and v.number = d.version
where d.dag_id = any(%(dag_ids)s::text[])
"""

# New DAGs with their specs and first versions in one round trip: after a deployment thousands are
# new. A row that another parser has just inserted, or another file of these, stays as it is.
_INSERT = f"""
with new as materialized (
  select * from json_to_recordset(%(new)s) as n(dag_id text, paused boolean,
    bundle text, file text, line int, present boolean, schedule text, timezone text, catchup text,
    owner text, tags text[], description text, max_active_runs int, concurrency int,
    cursor_at timestamptz, next_start timestamptz, next_end timestamptz, next_run_at timestamptz,
    spec_hash text, body text, head text, code_hash text, code text, modules jsonb,
    max_active_tasks int, pools jsonb)),
made as (
  insert into dag (dag_id, paused, version, {_NAMES}, cursor_at, next_start, next_end, next_run_at)
  select dag_id, paused, 1, {_NAMES}, cursor_at, next_start, next_end, next_run_at
  from new order by dag_id, file
  on conflict do nothing returning dag_id, file),
won as (select new.* from made join new on new.dag_id = made.dag_id and new.file = made.file),
kept as (
  insert into spec (hash, body, head) select spec_hash, body, head from won
  on conflict do nothing),
versions as (
  insert into dag_version (dag_id, number, spec_hash, code_hash, code, modules, bundle,
    max_active_tasks, pools)
  select dag_id, 1, spec_hash, code_hash, code, modules, bundle, max_active_tasks, pools from won)
select dag_id, file from made
"""

# All DAGs of a file at once: one that is edited may define thousands.
_UPDATE = f"""
update dag set ({_NAMES}) = ({", ".join(f"n.{name}" for name in Columns._fields)})
from json_to_recordset(%(changed)s) as n(dag_id text, bundle text, file text, line int,
  present boolean, schedule text, timezone text, catchup text, owner text, tags text[],
  description text, max_active_runs int, concurrency int)
where dag.dag_id = n.dag_id
"""

_ADD_VERSIONS = """
with new as materialized (
  select * from json_to_recordset(%(new)s) as n(dag_id text, number int, spec_hash text, body text,
    head text, code_hash text, code text, modules jsonb, bundle text, max_active_tasks int,
    pools jsonb)),
kept as (
  insert into spec (hash, body, head) select distinct on (spec_hash) spec_hash, body, head from new
  order by spec_hash on conflict do nothing),
versions as (
  insert into dag_version (dag_id, number, spec_hash, code_hash, code, modules, bundle,
    max_active_tasks, pools)
  select dag_id, number, spec_hash, code_hash, code, modules, bundle, max_active_tasks, pools
  from new)
update dag set version = new.number from new where dag.dag_id = new.dag_id
"""

_HIDE = """
update dag set present = false where dag_id = any(%(dag_ids)s::text[]) and present
returning dag_id
"""

_OWNERS = "select dag_id, file from dag where dag_id = any(%(dag_ids)s::text[])"


def lock(
    conn: Conn, dag_ids: Iterable[str], paths: Iterable[str]
) -> tuple[dict[str, DagRow], datetime]:
    """Lock DAGs by id and by file; their rows by id, and the database's time."""
    row = conn.execute(_LOCK, {"dag_ids": list(dag_ids), "paths": list(paths)}).fetchone()
    assert row is not None
    return _read(conn, row[0]), as_utc(row[1])


def insert(conn: Conn, new: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Make new DAGs with their first versions; id and file of those that were not there already.

    Each is a mapping of the columns of `dag`, `spec` and `dag_version`.
    """
    if not new:
        return set()
    rows = conn.execute(_INSERT, {"new": msgspec.json.encode(new).decode()})
    return {(dag_id, file) for dag_id, file in rows}


def update(conn: Conn, changed: Mapping[str, Columns]) -> None:
    """Write what files decide of some DAGs, by id."""
    if changed:
        rows = [{"dag_id": dag_id, **one._asdict()} for dag_id, one in changed.items()]
        conn.execute(_UPDATE, {"changed": msgspec.json.encode(rows).decode()})


def add_versions(conn: Conn, new: Sequence[Mapping[str, Any]]) -> None:
    """Give DAGs a version more each.

    Each is a mapping of the columns of `dag_version` and `spec`.
    """
    if new:
        conn.execute(_ADD_VERSIONS, {"new": msgspec.json.encode(new).decode()})


def hide(conn: Conn, dag_ids: Iterable[str]) -> set[str]:
    """Let DAGs be absent; those that were present."""
    hidden = list(dag_ids)
    if not hidden:
        return set()
    return {row[0] for row in conn.execute(_HIDE, {"dag_ids": hidden})}


def owners(conn: Conn, dag_ids: Iterable[str]) -> dict[str, str]:
    """The file that owns each DAG."""
    return dict(conn.execute(_OWNERS, {"dag_ids": list(dag_ids)}))


def _read(conn: Conn, dag_ids: Sequence[str]) -> dict[str, DagRow]:
    if not dag_ids:
        return {}
    fixed = len(DagRow._fields) - 1
    rows = conn.execute(_READ, {"dag_ids": list(dag_ids)})
    return {row[0]: DagRow._make((*row[:fixed], Columns._make(row[fixed:]))) for row in rows}
