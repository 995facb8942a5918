"""One more database on the same server, with a role that logs in by password."""

from __future__ import annotations

import time
from typing import Final

import psycopg
from psycopg import sql

from flow.errors import Conflict, DatabaseError

_LOGIN_LIMIT: Final = 30.0
_ENCODING: Final = "utf-8"


def create(flow_dsn: str, name: str, owner: str, password: str) -> None:
    """Make role and database if missing, and set the password.

    The password is hashed here, so it appears neither in a statement nor in the server's log.
    Raises `Conflict` when the role is a superuser or the database has another owner.
    """
    with psycopg.connect(flow_dsn, autocommit=True) as connection:
        _set_password(connection, owner, password)
        _make_database(connection, name, owner)


def reload(flow_dsn: str) -> None:
    """Make the server read its files again, a moment after this returns."""
    with psycopg.connect(flow_dsn, autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")


def wait_for_login(dsn: str, password: str) -> None:
    """Return when the login works: the server reloads its files a moment after it was told to.

    Raises `DatabaseError` with the server's own words when it keeps refusing.
    """
    deadline = time.monotonic() + _LOGIN_LIMIT
    while True:
        try:
            psycopg.connect(dsn, password=password).close()
            return
        except psycopg.OperationalError as refusal:
            if time.monotonic() > deadline:
                raise DatabaseError(
                    f"The new database does not accept its own login: {refusal}",
                    "Look into the server's log for the reason.",
                ) from refusal
        time.sleep(0.01)


def _set_password(
    connection: psycopg.Connection[tuple[object, ...]], owner: str, password: str
) -> None:
    row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [owner]).fetchone()
    if row is not None and row[0]:
        raise Conflict(
            f"The role {owner} is a superuser of the server.", "Take another name for the role."
        )
    hashed = connection.pgconn.encrypt_password(
        password.encode(_ENCODING), owner.encode(_ENCODING), b"scram-sha-256"
    ).decode(_ENCODING)
    verb = sql.SQL("CREATE" if row is None else "ALTER")
    connection.execute(
        sql.SQL("{} ROLE {} LOGIN PASSWORD {}").format(
            verb, sql.Identifier(owner), sql.Literal(hashed)
        )
    )


def _make_database(
    connection: psycopg.Connection[tuple[object, ...]], name: str, owner: str
) -> None:
    row = connection.execute(
        "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = %s", [name]
    ).fetchone()
    if row is not None and row[0] != owner:
        raise Conflict(
            f"The database {name} belongs to the role {row[0]}, not to {owner}.",
            "Take another name for the database, or the owner it has.",
        )
    database, role = sql.Identifier(name), sql.Identifier(owner)
    if row is None:
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))
    connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
