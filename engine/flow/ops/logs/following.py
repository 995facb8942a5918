"""Logs as they grow."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from flow.errors import NotFound
from flow.logs import LogFiles, Logs
from flow.logs.begun import BegunLine
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
from flow.ops.unrun import Shown, from_before
from flow.ops.waiting import GLANCE, LOOK
from flow.states import FINISHED, TaskState
from flow.store.connect import Conn
from flow.store.read import changes, runs, tasks
from flow.store.read.tasks import Try


def follow(deployment: Deployment, request: Request) -> Reading:
    """The logs as they grow, until every task has ended; with a try number, until the try has.

    A task that has not started yet is waited for, and one that is tried again is followed into its
    next try. The pieces raise `NotFound` when the run is deleted meanwhile, and for a task that has
    ended without such a try: after the logs of the others, where there are some.
    """
    pattern = pattern_of(request.grep)
    place = LogFiles(deployment.settings.logs.root)
    conn = deployment.conn
    with deployment.snapshot():
        found = find_run_and_graph(conn, request.dag_id, request.run)
        named = [find_task(found, task) for task in request.tasks]
        followers = [
            _Follower(found, one, request, pattern, place, alone=len(named) == 1) for one in named
        ]
        for one in followers:
            one.look(conn)
        missing = [one.no_try(conn) for one in followers if one.hopeless]
        followers = [one for one in followers if not one.hopeless]
        shown = (last for one in followers for last in one.unasked)
        unrun = from_before(conn, found.found.run_key, shown)
    earlier = [address for one in followers for address in one.earlier]
    return Reading(_pieces(deployment, request, found, followers, missing), unrun, earlier)


def _pieces(
    deployment: Deployment,
    request: Request,
    found: RunAndGraph,
    followers: list[_Follower],
    missing: list[NotFound],
) -> Iterator[Piece]:
    conn = deployment.conn
    seen, looked_at = -1, 0.0
    while not all(one.over for one in followers):
        now = changes.counter(conn)
        if now != seen or time.monotonic() - looked_at >= LOOK:
            seen, looked_at = now, time.monotonic()
            with deployment.snapshot():
                # By its key: a run may have been made again under its id.
                if not runs.by_keys(conn, [found.found.run_key]):
                    raise NotFound(
                        f"run {found.found.run.run_id!r} has been deleted", "its logs stay"
                    )
                for one in followers:
                    one.look(conn)
        for one in followers:
            yield from one.read()
        if not all(one.over for one in followers):
            time.sleep(GLANCE)
    if missing and not (request.selected and followers):
        raise missing[0]


class _Follower:
    """Follows one task through its tries."""

    def __init__(
        self,
        found: RunAndGraph,
        task: TaskReference,
        request: Request,
        pattern: re.Pattern[str] | None,
        place: Logs,
        *,
        alone: bool,
    ) -> None:
        self._found = found
        self._task = task
        self._only = request.try_number
        self._tail = request.tail
        self._pattern = pattern
        self._place = place
        self._tries: list[Try] = []
        self._state = TaskState.NONE
        self._source: Source | None = None
        self._after = 0
        """The last try that has been followed to its end."""
        self._first = True
        self._offset = 0
        self._text = Readable()
        self._excerpt = Excerpt(request.tail, pattern)
        self._line = None if alone else BegunLine()
        self.over = False

    def look(self, conn: Conn) -> None:
        """See how the task is doing."""
        self._state = tasks.state(
            conn, self._found.found.run_key, self._task.task_id, self._task.map_index
        )
        made = tasks.tries(
            conn, self._found.found.run_key, self._task.task_id, self._task.map_index
        )
        if self._only is not None:
            made = [one for one in made if one.try_number == self._only]
        elif self._source is None and not self._after:
            made = made[-1:]
        self._tries = made

    @property
    def unasked(self) -> list[Shown]:
        """The try that its log begins with, if none was asked for."""
        if self._only is not None:
            return []
        return [(self._task.task_id, self._task.map_index, one.try_number) for one in self._tries]

    @property
    def earlier(self) -> list[str]:
        """The logs of earlier runs that lie beside those of the tries."""
        return [
            address
            for one in self._tries
            for address in self._place.earlier(self._source_of(one).log)
        ]

    @property
    def hopeless(self) -> bool:
        """Whether the task has ended and no try of it is to be followed."""
        return self._state in FINISHED and not self._tries

    def no_try(self, conn: Conn) -> NotFound:
        """Why there is nothing to follow."""
        return no_try(conn, self._found, self._task, self._only)

    def read(self) -> Iterator[Piece]:
        """What the log has got since; goes on to the next try when one has ended."""
        if self.over:
            return
        if self._source is None:
            self._begin_next()
        while self._source is not None:
            # Known before reading: what was written up to an end is in the file by then.
            ended = self._has_ended(self._source)
            yield from self._grown(self._source)
            if not ended:
                return
            rest = self._text.feed(b"", final=True)
            last = self._excerpt.more(rest) + self._excerpt.last()
            yield from pieces_of(self._source, [self._line.end(last) if self._line else last])
            self._after, self._source = self._source.try_number, None
            self._begin_next()
        the_only_one = self._only is not None and self._after == self._only
        self.over = the_only_one or self._state in FINISHED

    def _has_ended(self, source: Source) -> bool:
        return any(one.try_number == source.try_number and one.ended_at for one in self._tries)

    def _begin_next(self) -> None:
        following = [one for one in self._tries if one.try_number > self._after]
        if following:
            self._source = self._source_of(following[0])
            self._offset, self._text = 0, Readable()
            self._excerpt = Excerpt(None if self._after else self._tail, self._pattern)
            self._first = True

    def _grown(self, source: Source) -> Iterator[Piece]:
        pieces = self._read_on(source)
        if self._first:
            self._first = False
            texts = self._excerpt.first(pieces)
        else:
            texts = map(self._excerpt.more, pieces)
        yield from pieces_of(source, texts if self._line is None else _told(texts, self._line))

    def _read_on(self, source: Source) -> Iterator[str]:
        (one,) = (one for one in self._tries if one.try_number == source.try_number)
        place = place_of(one, self._found.found.made_at, self._place)
        for data in place.read(source.log, self._offset):
            self._offset += len(data)
            yield self._text.feed(data)

    def _source_of(self, one: Try) -> Source:
        return source_of(self._found.found.run, self._task, one, self._place)


def _told(texts: Iterator[str], line: BegunLine) -> Iterator[str]:
    """What may be told of the texts beside those of others."""
    for text in texts:
        yield line.hear(text, time.monotonic())
    yield line.tell_due(time.monotonic())
