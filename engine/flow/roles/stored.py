"""Variables and connections for processes that run user code, answered by their supervisor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from flow.errors import FlowError, NotFound
from flow.process.messages import (
    DeleteVariable,
    Done,
    GetConnection,
    GetVariable,
    Refused,
    SetVariable,
    ToChild,
    Value,
)
from flow.store.connect import UNFIT_VALUES, Conn

REFUSED: Final = (FlowError, *UNFIT_VALUES)
"""Errors that are the asker's own: it is told, and the role goes on."""


def refusal(error: Exception) -> Refused:
    """What an asker is told of one of the errors `REFUSED`."""
    if isinstance(error, FlowError):
        return Refused(error=error.message, missing=isinstance(error, NotFound))
    reason = " ".join(str(error).split())
    return Refused(error=f"the database cannot hold that name or value: {reason}")


def answer(
    conn: Conn,
    message: GetVariable | SetVariable | DeleteVariable | GetConnection,
    key_file: Path,
) -> ToChild:
    """Carry out a request for a variable or connection. Raises `REFUSED` when it cannot be."""
    # Cryptography is a large library, and most tasks never ask for what needs it.
    from flow.secrets import keys
    from flow.secrets.lookup import connection as look_up_connection
    from flow.secrets.lookup import variable as look_up_variable
    from flow.store import variables

    def load_keys() -> keys.Keys:
        return keys.load(key_file)

    match message:
        case GetVariable(key=key):
            return Value(value=look_up_variable(conn, load_keys, key).value)
        case SetVariable(key=key, value=value, description=description):
            sealed = keys.load_or_make(key_file).encrypt(value)
            variables.set_(conn, key, sealed, description)
            return Done()
        case DeleteVariable(key=key):
            if not variables.delete(conn, key):
                return Refused(error=f"there is no variable {key!r}", missing=True)
            return Done()
        case GetConnection(conn_id=conn_id):
            found = look_up_connection(conn, load_keys, conn_id)
            return Value(value=found.connection.to_json())


def reader(key_file: Path) -> Callable[[Conn, GetVariable | GetConnection], ToChild]:
    """A function that answers reads alone, errors included."""

    def read(conn: Conn, message: GetVariable | GetConnection) -> ToChild:
        try:
            return answer(conn, message, key_file)
        except REFUSED as error:
            return refusal(error)

    return read
