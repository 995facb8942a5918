"""Whose log is meant, and where it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from flow.errors import NotFound, UsageError
from flow.logs import Logs, LogsSince
from flow.ops.references import RunAndGraph
from flow.ops.task_references import TaskReference
from flow.states import FINISHED
from flow.store.connect import Conn
from flow.store.read import tasks
from flow.store.read.runs import Run
from flow.store.read.tasks import Try, Unrun


class Request(NamedTuple):
    """Whose logs, and which part of them. `flow.ops.logs.chosen` makes names of `tasks`."""

    dag_id: str
    run: str
    tasks: Sequence[str]
    try_number: int | None = None
    """None: the last one; and those that follow while it is followed."""
    tail: int | None = None
    grep: str | None = None
    selected: bool = False
    """The tasks were not named one by one: those without a log are left out if one has any."""


class Source(NamedTuple):
    """The log of one try."""

    dag_id: str
    run_id: str
    task_id: str
    map_index: list[int]
    try_number: int
    log: str

    @property
    def task(self) -> str:
        """The task instance as it is written on a command line."""
        return str(TaskReference(self.task_id, tuple(self.map_index)))


class Piece(NamedTuple):
    """The next text of a log; not always whole lines."""

    source: Source
    text: str


class Reading(NamedTuple):
    """Logs as they come. `unrun`: tries whose logs they are, if from before a clear unasked.

    `earlier` are the addresses of logs of earlier runs of the same id, which were set aside.
    """

    pieces: Iterator[Piece]
    unrun: list[Unrun]
    earlier: list[str]


def source_of(run: Run, task: TaskReference, one: Try, place: Logs) -> Source:
    """The log of a try. Its row names it only once it has been running for a while."""
    number = one.try_number
    address = one.log or place.address(run.dag_id, run.run_id, task.task_id, task.map_index, number)
    return Source(run.dag_id, run.run_id, task.task_id, list(task.map_index), number, address)


def place_of(one: Try, made_at: datetime, place: Logs) -> Logs:
    """Where the log of a try is read, of a run that was made then.

    As long as no process of the try is known, the log of an earlier run of the same id may lie
    where its own will be: one from before the run is not shown then. A process is known when it has
    run for a heartbeat, and at the latest when its end is reported.
    """
    return place if one.pid is not None else LogsSince(place, made_at)


def no_try(conn: Conn, found: RunAndGraph, task: TaskReference, number: int | None) -> NotFound:
    """Why a task has no such try."""
    run = found.found.run
    made = len(tasks.tries(conn, found.found.run_key, task.task_id, task.map_index))
    if number is not None and made:
        return NotFound(
            f"{task} has no try {number}",
            f"it has {made}: flow tasks tries {run.dag_id} {run.run_id} {task}",
        )
    state = tasks.state(conn, found.found.run_key, task.task_id, task.map_index)
    if state in FINISHED:
        why = f"why: flow why {run.dag_id} {run.run_id} {task}"
        return NotFound(f"{task} never ran, so it has no log: it is {state}", why)
    return NotFound(f"{task} has not started: it is {state}", "wait for its log with -f")


def pieces_of(source: Source, texts: Iterable[str]) -> Iterator[Piece]:
    """The texts that say something, as pieces of a log."""
    return (Piece(source, text) for text in texts if text)


def pattern_of(text: str | None) -> re.Pattern[str] | None:
    """The expression that lines have to contain. Raises `UsageError`."""
    if text is None:
        return None
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(
            f"{text!r} is not a regular expression: {error}", "put a backslash before . * + ? ( ) ["
        ) from None
