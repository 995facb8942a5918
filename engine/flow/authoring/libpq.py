"""How libpq, and so every driver that stands on it, is told where a PostgreSQL connection leads."""

from __future__ import annotations

from typing import Any, Final

from flow.authoring.connection import Connection

EXTRAS: Final = frozenset(
    {
        "sslmode",
        "sslrootcert",
        "sslcert",
        "sslkey",
        "options",
        "target_session_attrs",
        "gssencmode",
        "channel_binding",
    }
)
"""Keys of a connection's extra that are parameters of libpq; others are for somebody else."""


def parameters(connection: Connection) -> dict[str, Any]:
    """The keywords for `psycopg.connect`; None where the connection leaves it to libpq."""
    return {
        "host": connection.host,
        "port": connection.port,
        "user": connection.login,
        "password": connection.password,
        "dbname": connection.schema,
        **{key: value for key, value in connection.extra_dejson.items() if key in EXTRAS},
    }
