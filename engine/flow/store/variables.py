"""Variables, as encrypted bytes: nothing here knows a key."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from flow.store.connect import Conn
from flow.store.text import storable_or_none


class StoredVariable(NamedTuple):
    """A variable's row."""

    key: str
    value: bytes
    description: str
    updated_at: datetime


_COLUMNS = "key, value, description, updated_at"
_LIST = f"select {_COLUMNS} from variable order by key limit %(limit)s"
_COUNT = "select count(*) from variable"
_NAMES = "select key from variable order by key"
_ONE = f"select {_COLUMNS} from variable where key = %(key)s"
# A name that does not exist has no row to lock, and the table is small and rarely written.
_LOCK = "lock table variable in share row exclusive mode"
_EXISTING = "select key from variable where key = any(%(keys)s::text[]) order by key"

# A description that is not given stays as it is.
_SET = """
insert into variable (key, value, description)
values (%(key)s, %(value)s, coalesce(%(description)s::text, ''))
on conflict (key) do update set value = excluded.value, updated_at = clock_timestamp(),
  description = coalesce(%(description)s::text, variable.description)
"""

# What DAG files have read; primary key.
_STAMPS = """
select key, extract(epoch from updated_at)::text from variable where key = any(%(keys)s::text[])
"""

_DELETE = "delete from variable where key = %(key)s"


def page(conn: Conn, limit: int | None) -> tuple[list[StoredVariable], int]:
    """Variables in order of key, and how many there are."""
    rows = [StoredVariable._make(row) for row in conn.execute(_LIST, {"limit": limit})]
    found = conn.execute(_COUNT).fetchone()
    return rows, found[0] if found else 0


def names(conn: Conn) -> list[str]:
    """The keys of all variables."""
    return [row[0] for row in conn.execute(_NAMES)]


def one(conn: Conn, key: str) -> StoredVariable | None:
    """A variable."""
    row = conn.execute(_ONE, {"key": key}).fetchone()
    return StoredVariable._make(row) if row else None


def stamps(conn: Conn, keys: Collection[str]) -> dict[str, str | None]:
    """When each of some variables was set, as a text that changes with it; None: there is none."""
    found: dict[str, str | None] = dict.fromkeys(keys)
    if found:
        found.update(conn.execute(_STAMPS, {"keys": list(found)}).fetchall())
    return found


def existing(conn: Conn, keys: Sequence[str]) -> list[str]:
    """Those of `keys` that exist; nobody else writes a variable until the transaction ends."""
    conn.execute(_LOCK)
    return [row[0] for row in conn.execute(_EXISTING, {"keys": list(keys)})]


def set_(conn: Conn, key: str, value: bytes, description: str | None) -> None:
    """Make a variable, or overwrite it."""
    conn.execute(_SET, {"key": key, "value": value, "description": storable_or_none(description)})


def delete(conn: Conn, key: str) -> bool:
    """Delete a variable; whether there was one."""
    return conn.execute(_DELETE, {"key": key}).rowcount > 0
