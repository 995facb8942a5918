"""`flow conns`. All but type and description is encrypted at rest, and never in the audit."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple

from flow.authoring.connection import Connection
from flow.errors import Conflict, NotFound
from flow.ops import keyring
from flow.ops.deployment import Deployment
from flow.ops.exchange import Existing, Imported, connections_in, read_object, settle
from flow.ops.suggest import did_you_mean
from flow.secrets import lookup, names
from flow.secrets.lookup import FoundConnection
from flow.secrets.stored import seal, unseal
from flow.store import connections
from flow.store.connect import Conn
from flow.store.read.page import Page, Total

HIDDEN = "***"


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
    with deployment.snapshot():
        try:
            return lookup.connection(
                deployment.conn, lambda: keyring.for_reading(deployment), conn_id
            )
        except NotFound as error:
            raise NotFound(error.message, _near(deployment.conn, conn_id, error.hint)) from None


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
    with deployment.change("conns.delete") as change:
        if not connections.delete(deployment.conn, conn_id):
            raise _unknown(deployment.conn, conn_id)
        change.log(conn_id, {"exists": True}, {"exists": False})


def require(deployment: Deployment, conn_id: str) -> None:
    """Raise `NotFound` unless the store has the connection."""
    with deployment.snapshot():
        if connections.one(deployment.conn, conn_id) is None:
            raise _unknown(deployment.conn, conn_id)


def export(deployment: Deployment) -> str:
    """All connections of the store as JSON: id → fields, passwords and all."""
    with deployment.snapshot():
        rows, _ = connections.page(deployment.conn, None)
    keys = keyring.for_reading(deployment) if rows else None
    exported = {
        row.conn_id: json.loads(unseal(row, keys).to_json()) for row in rows if keys is not None
    }
    return json.dumps(exported, indent=2, ensure_ascii=False) + "\n"


def import_(deployment: Deployment, text: str, policy: Existing) -> Imported:
    """Store the connections of a JSON object (`exchange.connections_in`), all or none."""
    given = connections_in(read_object(text, "the file of connections"))
    with deployment.change("conns.import") as change:
        existing = connections.existing(deployment.conn, list(given))
        written = settle(list(given), existing, policy, "connections")
        keys = keyring.for_writing(deployment) if written else None
        for conn_id in written:
            if keys is not None:
                connections.set_(deployment.conn, conn_id, *seal(given[conn_id], keys))
            change.log(conn_id, {"exists": conn_id in existing}, {"exists": True})
    return Imported(written, [conn_id for conn_id in given if conn_id not in written])


def _hidden(value: Any) -> Any:
    """Numbers and switches are shown; any text may be a key or a token."""
    if isinstance(value, str):
        return HIDDEN
    if isinstance(value, list):
        return [_hidden(part) for part in value]
    if isinstance(value, dict):
        return {key: _hidden(part) for key, part in value.items()}
    return value


def _unknown(conn: Conn, conn_id: str) -> NotFound:
    hint = _near(conn, conn_id, "`flow conns list` shows all connections")
    return NotFound(f"there is no connection {conn_id!r}", hint)


def _near(conn: Conn, conn_id: str, otherwise: str) -> str:
    rows, _ = connections.page(conn, None)
    return did_you_mean(conn_id, [row.conn_id for row in rows], otherwise)
