"""What a DAG file may ask for while it is imported."""

from __future__ import annotations

from collections.abc import Callable

from flow.process.messages import (
    FromChild,
    GetConnection,
    GetSchedulePosition,
    GetVariable,
    Refused,
    SchedulePosition,
    ToChild,
)
from flow.store import dag_intervals
from flow.store.connect import Conn

Read = Callable[[Conn, GetVariable | GetConnection], ToChild]
"""Looks up a variable or connection for a file that asks for it."""


def answer(conn: Conn, message: FromChild, read: Read) -> ToChild:
    """Answer a request of an import. Reading is allowed; whatever belongs to a try is not."""
    if isinstance(message, GetVariable | GetConnection):
        return read(conn, message)
    if isinstance(message, GetSchedulePosition):
        last, cursor = dag_intervals.position(conn, message.dag_id)
        return SchedulePosition(last=None if last is None else last[:2], cursor=cursor)
    return refuse(message)


def refuse(message: FromChild) -> Refused:
    """The answer to what no import may ask for."""
    return Refused(
        error=f"{type(message).__name__} is not possible while a DAG file is imported: "
        "do it in a task"
    )
