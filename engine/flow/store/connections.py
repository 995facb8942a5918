"""Connections, as encrypted bytes: nothing here knows a key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from flow.store.connect import Conn
from flow.store.text import storable


class StoredConnection(NamedTuple):
    """A connection's row; `secret` is its JSON without type and description, encrypted."""

    conn_id: str
    conn_type: str
    secret: bytes
    description: str
    updated_at: datetime


_COLUMNS = "conn_id, conn_type, secret, description, updated_at"
_LIST = f"select {_COLUMNS} from connection order by conn_id limit %(limit)s"
_COUNT = "select count(*) from connection"
_NAMES = "select conn_id from connection order by conn_id"
_ONE = f"select {_COLUMNS} from connection where conn_id = %(conn_id)s"
# An id that does not exist has no row to lock, and the table is small and rarely written.
_LOCK = "lock table connection in share row exclusive mode"
_EXISTING = """
select conn_id from connection where conn_id = any(%(conn_ids)s::text[]) order by conn_id
"""
_SET = """
insert into connection (conn_id, conn_type, secret, description)
values (%(conn_id)s, %(conn_type)s, %(secret)s, %(description)s)
on conflict (conn_id) do update set conn_type = excluded.conn_type, secret = excluded.secret,
  description = excluded.description, updated_at = clock_timestamp()
"""
_DELETE = "delete from connection where conn_id = %(conn_id)s"
# Whether anything was ever encrypted for this database: then a new key would not fit it.
_ANY_SECRET = """
select exists (select from connection) or exists (select from variable)
"""


def page(conn: Conn, limit: int | None) -> tuple[list[StoredConnection], int]:
    """Connections in order of id, and how many there are."""
    rows = [StoredConnection._make(row) for row in conn.execute(_LIST, {"limit": limit})]
    found = conn.execute(_COUNT).fetchone()
    return rows, found[0] if found else 0


def names(conn: Conn) -> list[str]:
    """The ids of all connections."""
    return [row[0] for row in conn.execute(_NAMES)]


def one(conn: Conn, conn_id: str) -> StoredConnection | None:
    """A connection."""
    row = conn.execute(_ONE, {"conn_id": conn_id}).fetchone()
    return StoredConnection._make(row) if row else None


def existing(conn: Conn, conn_ids: Sequence[str]) -> list[str]:
    """Those of `conn_ids` that exist; nobody else writes one until the transaction ends."""
    conn.execute(_LOCK)
    return [row[0] for row in conn.execute(_EXISTING, {"conn_ids": list(conn_ids)})]


def set_(conn: Conn, conn_id: str, conn_type: str, secret: bytes, description: str) -> None:
    """Make a connection, or overwrite it."""
    conn.execute(
        _SET,
        {
            "conn_id": conn_id,
            "conn_type": conn_type,
            "secret": secret,
            "description": storable(description),
        },
    )


def delete(conn: Conn, conn_id: str) -> bool:
    """Delete a connection; whether there was one."""
    return conn.execute(_DELETE, {"conn_id": conn_id}).rowcount > 0


def any_secret(conn: Conn) -> bool:
    """Whether the database holds anything encrypted."""
    row = conn.execute(_ANY_SECRET).fetchone()
    return bool(row and row[0])
