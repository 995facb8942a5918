"""Logs as they are now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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
    place_of,
    source_of,
)
from flow.ops.references import RunAndGraph, find_run_and_graph, find_task
from flow.ops.task_references import TaskReference
from flow.ops.unrun import from_before
from flow.store.connect import Conn
from flow.store.read import tasks
from flow.store.read.tasks import Try


class _Opened(NamedTuple):
    """A log, and where it is read."""

    source: Source
    place: Logs


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
        sources = [source for source, _ in opened]
        unasked = sources if request.try_number is None else []
        shown = ((one.task_id, one.map_index, one.try_number) for one in unasked)
        unrun = from_before(deployment.conn, found.found.run_key, shown)
    earlier = [address for source in sources for address in place.earlier(source.log)]
    return Reading(_pieces(request, opened, missing, pattern), unrun, earlier)


def _pieces(
    request: Request,
    opened: list[_Opened],
    missing: list[NotFound],
    pattern: re.Pattern[str] | None,
) -> Iterator[Piece]:
    for source, place in opened:
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
) -> tuple[list[_Opened], list[NotFound]]:
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
) -> _Opened:
    """The log of a try that has started. Raises `NotFound`."""
    made = tasks.tries(conn, found.found.run_key, task.task_id, task.map_index)
    wanted = made[-1:] if number is None else [one for one in made if one.try_number == number]
    if not wanted:
        raise no_try(conn, found, task, number)
    (one,) = wanted
    opened = _Opened(
        source_of(found.found.run, task, one, place), place_of(one, found.found.made_at, place)
    )
    if one.ended_at is not None and not opened.place.exists(opened.source.log):
        raise _no_log(task, one, opened.source, older=place.exists(opened.source.log))
    return opened


def _no_log(task: TaskReference, one: Try, source: Source, *, older: bool) -> NotFound:
    """Why the log of a try that has ended is not here; `older`: one from before its run is."""
    what = f"the log of {task}, try {one.try_number}, is not here: {source.log}"
    if older:
        return NotFound(
            what, "what lies there is of an earlier run: no process of the try is known"
        )
    return NotFound(
        what,
        f"it was written on {one.worker}; on several hosts logs.root has to be a folder that they "
        "share",
    )
