"""Where a variable or connection is looked for: first the environment, then the store.

The environment is that of the process that asks: for a task, its worker's. An empty FLOW_CONN_…
counts as not set, because an empty text describes no connection; an empty FLOW_VAR_… is an empty
variable. The supervisor of a worker and the commands ask through these functions and no others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from flow.authoring.connection import Connection, connection_from_env_value
from flow.errors import NotFound
from flow.secrets import names
from flow.secrets.keys import Keys
from flow.secrets.stored import unseal
from flow.store import connections, variables
from flow.store.connect import Conn

STORE: Final = "store"

LoadKeys = Callable[[], Keys]
"""Called only when something stored has to be decrypted."""


class FoundVariable(NamedTuple):
    """A variable's text, and where it was: `store` or the name of an environment variable."""

    key: str
    value: str
    description: str
    origin: str


class FoundConnection(NamedTuple):
    """A connection, and where it was: `store` or the name of an environment variable."""

    connection: Connection
    origin: str


def variable(
    conn: Conn, load_keys: LoadKeys, key: str, environ: Mapping[str, str] = os.environ
) -> FoundVariable:
    """The variable `key`. Raises `NotFound`."""
    name = names.variable_in_environment(key)
    if name in environ:
        return FoundVariable(key, environ[name], "", name)
    row = variables.one(conn, key)
    if row is None:
        raise NotFound(
            f"there is no variable {key!r}",
            f"set it with `flow vars set`, or {name} in the environment of the workers",
        )
    text = load_keys().decrypt(row.value, f"variable {key!r}")
    return FoundVariable(key, text, row.description, STORE)


def connection(
    conn: Conn, load_keys: LoadKeys, conn_id: str, environ: Mapping[str, str] = os.environ
) -> FoundConnection:
    """The connection `conn_id`. Raises `NotFound`, or `InvalidConnection` for a bad environment."""
    name = names.connection_in_environment(conn_id)
    text = environ.get(name, "").strip()
    if text:
        return FoundConnection(connection_from_env_value(conn_id, text), name)
    row = connections.one(conn, conn_id)
    if row is None:
        raise NotFound(
            f"there is no connection {conn_id!r}",
            f"add it with `flow conns add`, or set {name} in the environment of the workers",
        )
    return FoundConnection(unseal(row, load_keys()), STORE)
