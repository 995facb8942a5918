"""Variables and connections for processes that run user code, answered by their supervisor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flow.errors import FlowError
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
from flow.store.connect import Conn


def answer(
    conn: Conn,
    message: GetVariable | SetVariable | DeleteVariable | GetConnection,
    key_file: Path,
) -> ToChild:
    """Carry out a request for a variable or connection. Raises `FlowError` when it cannot be."""
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
        except FlowError as error:
            return Refused(error=error.message, missing=error.exit_code == 3)

    return read
