"""`flow conns test`: does anybody answer at the other end of a connection?"""

from __future__ import annotations

import socket
import time
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import psycopg

from flow.authoring import libpq
from flow.authoring.connection import Connection
from flow.errors import UsageError

TIMEOUT: Final = 10
"""Seconds that an attempt may take."""

PORTS: Final = {
    "ftp": 21,
    "ssh": 22,
    "sftp": 22,
    "smtp": 25,
    "http": 80,
    "https": 443,
    "imap": 993,
    "mssql": 1433,
    "mysql": 3306,
    "redis": 6379,
    "mongo": 27017,
    "kafka": 9092,
    "trino": 8080,
}
"""Where a type listens when the connection names no port."""


class Reached(NamedTuple):
    """What an attempt came to. `how`: `login` for PostgreSQL, else `tcp`."""

    ok: bool
    how: str
    message: str
    seconds: float


def reach(connection: Connection) -> Reached:
    """Log in to a PostgreSQL, or open a TCP connection to anything else.

    Raises `UsageError` for a connection without a host or a known port.
    """
    began = time.monotonic()
    how = "login" if connection.conn_type == "postgres" else "tcp"
    try:
        message = _log_in(connection) if how == "login" else _open(connection)
    except (OSError, psycopg.Error) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return Reached(False, how, reason, time.monotonic() - began)
    return Reached(True, how, message, time.monotonic() - began)


def _log_in(connection: Connection) -> str:
    with psycopg.connect(connect_timeout=TIMEOUT, **libpq.parameters(connection)) as conn:
        conn.execute("select 1")
        return f"logged in to PostgreSQL {conn.info.parameter_status('server_version')}"


def _open(connection: Connection) -> str:
    host, port = _address(connection)
    with socket.create_connection((host, port), timeout=TIMEOUT):
        return f"{host} port {port} takes connections"


def _address(connection: Connection) -> tuple[str, int]:
    host, scheme, port = connection.host or "", connection.conn_type or "", connection.port
    if "://" in host:
        parts = urlsplit(host)
        host, scheme, port = parts.hostname or "", parts.scheme, port or parts.port
    port = port or PORTS.get(scheme)
    if not host:
        raise UsageError(
            f"connection {connection.conn_id!r} has no host, so there is nothing to reach",
            "a task that uses it is the only test",
        )
    if port is None:
        raise UsageError(
            f"connection {connection.conn_id!r} has no port, and type {scheme!r} has no usual one",
            "store it with a port",
        )
    return host, port
