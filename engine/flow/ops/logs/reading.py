"""Logs as they are now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from flow.errors import NotFound
from flow.logs import LogFiles, Logs
from flow.logs.excerpt import Excerpt
from flow.logs.text import Readable
from flow.ops.deployment import Deployment
from flow.ops.logs.source import (
    Piece,
    Reading,
    Request,
    Source,
    no_try,
    pattern_of,
    pieces_of,
    source_of,
)
from flow.ops.references import RunAndGraph, find_run_and_graph, find_task
from flow.ops.task_references import TaskReference
from flow.ops.unrun import from_before
from flow.store.connect import Conn
from flow.store.read import tasks


def read(deployment: Deployment, request: Request) -> Reading:
    """The logs as they are now, one task after the other.

    The pieces raise `NotFound` for a task that has no such try, or whose log is not on this host:
    after the logs of the others, where there are some.
    """
    pattern = pattern_of(request.grep)
    place = LogFiles(deployment.settings.logs.root)
    with deployment.snapshot():
        found = find_run_and_graph(deployment.conn, request.dag_id, request.run)
        named = [find_task(found, task) for task in request.tasks]
        opened, missing = _open_all(deployment.conn, found, named, request.try_number, place)
        unasked = opened if request.try_number is None else []
        shown = ((one.task_id, one.map_index, one.try_number) for one in unasked)
        unrun = from_before(deployment.conn, found.found.run_key, shown)
    return Reading(_pieces(request, opened, missing, pattern, place), unrun)


def _pieces(
    request: Request,
    opened: list[Source],
    missing: list[NotFound],
    pattern: re.Pattern[str] | None,
    place: Logs,
) -> Iterator[Piece]:
    for source in opened:
        excerpt, text = Excerpt(request.tail, pattern), Readable()
        yield from pieces_of(source, excerpt.first(map(text.feed, place.read(source.log))))
        rest = text.feed(b"", final=True)
        yield from pieces_of(source, [excerpt.more(rest), excerpt.last()])
    if missing and not (request.selected and opened):
        raise missing[0]


def _open_all(
    conn: Conn,
    found: RunAndGraph,
    named: Sequence[TaskReference],
    number: int | None,
    place: Logs,
) -> tuple[list[Source], list[NotFound]]:
    """The logs that there are, and what is wrong with the others."""
    opened, missing = [], []
    for task in named:
        try:
            opened.append(_open(conn, found, task, number, place))
        except NotFound as error:
            missing.append(error)
    return opened, missing


def _open(
    conn: Conn, found: RunAndGraph, task: TaskReference, number: int | None, place: Logs
) -> Source:
    """The log of a try that has started. Raises `NotFound`."""
    made = tasks.tries(conn, found.found.run_key, task.task_id, task.map_index)
    wanted = made[-1:] if number is None else [one for one in made if one.try_number == number]
    run = found.found.run
    if not wanted:
        raise no_try(conn, found, task, number)
    source = source_of(run, task, wanted[0], place)
    if not place.exists(source.log) and wanted[0].ended_at is not None:
        raise NotFound(
            f"the log of {task}, try {source.try_number}, is not here: {source.log}",
            f"it was written on {wanted[0].worker}; on several hosts logs.root has to be a folder "
            "that they share",
        )
    return source
