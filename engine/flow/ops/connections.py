"""`flow conns`. All but type and description is encrypted at rest, and never in the audit."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final, NamedTuple

from flow.authoring.connection import Connection
from flow.errors import Conflict
from flow.ops import keyring
from flow.ops.deployment import Deployment
from flow.ops.exchange import Existing, Imported, connections_in, read_object
from flow.ops.stored_secrets import Kind, as_json
from flow.secrets import lookup, names
from flow.secrets.keys import Keys
from flow.secrets.lookup import FoundConnection
from flow.secrets.stored import seal, unseal
from flow.store import connections
from flow.store.connections import StoredConnection
from flow.store.read.page import Page, Total

HIDDEN = "***"
_KIND: Final = Kind("connection", "conns", connections)


class ConnectionRow(NamedTuple):
    """A connection as lists show it: nothing secret."""

    conn_id: str
    conn_type: str
    description: str
    updated_at: datetime


class ConnectionRecord(NamedTuple):
    """All of a connection. `origin`: `store`, or the environment variable that overrides it."""

    conn_id: str
    conn_type: str | None
    host: str | None
    port: int | None
    schema: str | None
    login: str | None
    password: str | None
    extra: dict[str, Any]
    description: str | None
    origin: str
    uri: str | None


def page(deployment: Deployment, limit: int | None = None) -> Page[ConnectionRow]:
    """Connections of the store."""
    with deployment.snapshot():
        rows, count = connections.page(deployment.conn, limit)
    listed = [
        ConnectionRow(row.conn_id, row.conn_type, row.description, row.updated_at) for row in rows
    ]
    return Page(listed, Total(count))


def get(deployment: Deployment, conn_id: str) -> FoundConnection:
    """A connection as a task on this machine would get it. Raises `NotFound`."""
    return _KIND.get(deployment, conn_id, lookup.connection)


def record(found: FoundConnection, *, reveal: bool) -> ConnectionRecord:
    """A connection for showing. Unless revealed: no password, no texts in the extras, no URI."""
    connection = found.connection
    extra = connection.extra_dejson
    password = connection.password
    return ConnectionRecord(
        conn_id=connection.conn_id or "",
        conn_type=connection.conn_type,
        host=connection.host,
        port=connection.port,
        schema=connection.schema,
        login=connection.login,
        password=password if reveal or password is None else HIDDEN,
        extra=extra if reveal else {key: _hidden(value) for key, value in extra.items()},
        description=connection.description,
        origin=found.origin,
        uri=connection.get_uri() if reveal and connection.conn_type else None,
    )


def add(deployment: Deployment, connection: Connection, *, replace: bool = False) -> None:
    """Store a connection. Raises `Conflict` when it exists and is not to be replaced."""
    conn_id = names.check_conn_id(connection.conn_id or "")
    with deployment.change("conns.add") as change:
        existed = bool(connections.existing(deployment.conn, [conn_id]))
        if existed and not replace:
            raise Conflict(
                f"connection {conn_id!r} already exists", "add --replace to overwrite it"
            )
        sealed = seal(connection, keyring.for_writing(deployment))
        connections.set_(deployment.conn, conn_id, *sealed)
        change.log(
            conn_id, {"exists": existed}, {"exists": True, "conn_type": connection.conn_type}
        )


def delete(deployment: Deployment, conn_id: str) -> None:
    """Delete a connection. Raises `NotFound`."""
    _KIND.delete(deployment, conn_id)


def require(deployment: Deployment, conn_id: str) -> None:
    """Raise `NotFound` unless the store has the connection."""
    _KIND.require(deployment, conn_id)


def export(deployment: Deployment) -> str:
    """All connections of the store as JSON: id → fields, passwords and all."""
    with deployment.snapshot():
        rows, _ = connections.page(deployment.conn, None)
    return as_json(deployment, {row.conn_id: row for row in rows}, _plain)


def import_(deployment: Deployment, text: str, policy: Existing) -> Imported:
    """Store the connections of a JSON object (`exchange.connections_in`), all or none."""

    def set_one(keys: Keys, conn_id: str, connection: Connection) -> None:
        connections.set_(deployment.conn, conn_id, *seal(connection, keys))

    given = connections_in(read_object(text, "the file of connections"))
    return _KIND.store(deployment, given, policy, set_one)


def _plain(keys: Keys, row: StoredConnection) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(unseal(row, keys).to_json())
    return fields


def _hidden(value: Any) -> Any:
    """Numbers and switches are shown; any text may be a key or a token."""
    if isinstance(value, str):
        return HIDDEN
    if isinstance(value, list):
        return [_hidden(part) for part in value]
    if isinstance(value, dict):
        return {key: _hidden(part) for key, part in value.items()}
    return value
