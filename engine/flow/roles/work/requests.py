"""Answers to what task processes ask of their supervisor."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from flow.process.messages import (
    DeleteVariable,
    Done,
    FromChild,
    GetConnection,
    GetPreviousSuccess,
    GetVariable,
    PreviousRun,
    PullXCom,
    PushXCom,
    Refused,
    SetVariable,
    ToChild,
    XComs,
    XComValue,
)
from flow.roles import stored
from flow.store import xcoms
from flow.store.connect import Conn, transaction
from flow.store.tries import Claimed


class Asker(Protocol):
    """Whose process asks: a try, a callback, or a task that is only rendered."""

    @property
    def run_key(self) -> int: ...
    @property
    def dag_id(self) -> str: ...
    @property
    def run_id(self) -> str: ...


def answer(conn: Conn, task: Asker, message: FromChild, key_file: Path) -> ToChild:
    """Answer one request of the process of `task`; only a claimed one can push XComs."""
    try:
        with transaction(conn, "work.answer"):
            return _answer(conn, task, message, key_file)
    except stored.REFUSED as error:
        return stored.refusal(error)


def _answer(conn: Conn, task: Asker, message: FromChild, key_file: Path) -> ToChild:
    match message:
        case PushXCom(key=key, value=value):
            if not isinstance(task, Claimed):
                return Refused(error="outside of its own try a task cannot push XComs")
            if not xcoms.push(conn, task.key, key, value):
                return Refused(error="this try is no longer the current one")
            return Done()
        case PullXCom():
            return _pull(conn, task, message)
        case GetVariable() | SetVariable() | DeleteVariable() | GetConnection():
            return stored.answer(conn, message, key_file)
        case GetPreviousSuccess():
            found = xcoms.previous_success(conn, task.run_key)
            return PreviousRun(**found._asdict()) if found else PreviousRun()
        case _:
            return Refused(error=f"a task may not ask for {type(message).__name__}")


def _pull(conn: Conn, task: Asker, message: PullXCom) -> ToChild:
    dag_id = message.dag_id or task.dag_id
    run_key: int | None = task.run_key
    if message.include_prior_dates:
        run_key = xcoms.last_run_with(conn, dag_id, task.run_key, message.key, message.task_ids)
    elif message.run_id is not None or dag_id != task.dag_id:
        run_key = xcoms.run_key_of(conn, dag_id, message.run_id or task.run_id)
    if run_key is None:
        return XComs()
    found = xcoms.pull(
        conn, run_key, message.key, task_ids=message.task_ids, map_path=message.map_path
    )
    return XComs(
        values=tuple(
            XComValue(task_id=one.task_id, map_path=one.map_path, value=one.value) for one in found
        )
    )
