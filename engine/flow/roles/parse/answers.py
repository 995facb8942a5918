"""What a DAG file may ask for while it is imported."""

from __future__ import annotations

from collections.abc import Callable

from flow.process.messages import FromChild, GetConnection, GetVariable, Refused, ToChild
from flow.store.connect import Conn

Read = Callable[[Conn, GetVariable | GetConnection], ToChild]
"""Looks up a variable or connection for a file that asks for it."""


def answer(conn: Conn, message: FromChild, read: Read) -> ToChild:
    """Answer a request of an import. Reading is allowed; whatever belongs to a try is not."""
    if isinstance(message, GetVariable | GetConnection):
        return read(conn, message)
    return Refused(
        error=f"{type(message).__name__} is not possible while a DAG file is imported: "
        "do it in a task"
    )
