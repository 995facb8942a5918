"""Names of variables and connections: which are legal, and how the environment spells them.

`FLOW_VAR_` and `FLOW_CONN_` come before the name in upper case with `_` for every character that is
not an ASCII letter or digit: connection `sales-db.eu` is FLOW_CONN_SALES_DB_EU. Two names may meet
in one variable (`a-b` and `a_b`); then it holds for both.
"""

from __future__ import annotations

import re
from typing import Final

from flow.errors import InvalidDag, UsageError
from flow.graph.check import MAX_ID, check_id

VARIABLE_PREFIX: Final = "FLOW_VAR_"
CONNECTION_PREFIX: Final = "FLOW_CONN_"
_NOT_PLAIN: Final = re.compile(r"[^A-Z0-9]")


def variable_in_environment(key: str) -> str:
    """The environment variable that overrides a variable."""
    return VARIABLE_PREFIX + _NOT_PLAIN.sub("_", key.upper())


def connection_in_environment(conn_id: str) -> str:
    """The environment variable that overrides a connection."""
    return CONNECTION_PREFIX + _NOT_PLAIN.sub("_", conn_id.upper())


def check_key(key: str) -> str:
    """The key of a variable when it is legal, else `UsageError`: any printable text."""
    if not key or key != key.strip() or not key.isprintable() or len(key) > MAX_ID:
        raise UsageError(
            f"{key[:40]!r} cannot be the key of a variable",
            f"use 1 to {MAX_ID} printable characters, without spaces around them",
        )
    return key


def check_conn_id(conn_id: str) -> str:
    """The id of a connection when it is legal, else `UsageError`: the alphabet of all ids."""
    try:
        return check_id("conn_id", conn_id)
    except InvalidDag as error:
        raise UsageError(error.message, error.hint) from None
