"""A connection as the store keeps it: type and description in the open, the rest encrypted."""

from __future__ import annotations

import json

from flow.authoring.connection import Connection
from flow.errors import UsageError
from flow.secrets.keys import Keys
from flow.store.connections import StoredConnection

_OPEN = ("conn_type", "description")


def seal(connection: Connection, keys: Keys) -> tuple[str, bytes, str]:
    """(type, secret, description) to store. Raises `UsageError` for one without a type."""
    if connection.conn_type is None:
        raise UsageError(
            f"connection {connection.conn_id!r} has no type",
            "say what it connects to, for instance --type postgres",
        )
    hidden = json.loads(connection.to_json())
    for name in _OPEN:
        hidden.pop(name, None)
    secret = keys.encrypt(json.dumps(hidden))
    return connection.conn_type, secret, connection.description or ""


def unseal(row: StoredConnection, keys: Keys) -> Connection:
    """The connection of a row. Raises `ConfigError` when no key fits."""
    fields = json.loads(keys.decrypt(row.secret, f"connection {row.conn_id!r}"))
    text = json.dumps({**fields, "conn_type": row.conn_type, "description": row.description})
    return Connection.from_json(row.conn_id, text)
