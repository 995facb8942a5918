"""Imports that are under way: one child each, with a time limit and the tail of its output."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from flow.process.environment import TaskUser
from flow.process.events import ChildMessage, JobEnded, ZygoteDied, ZygoteReady
from flow.process.host import Host
from flow.process.jobs import ParseJob
from flow.process.last_words import LastWords, last_words
from flow.process.standstill import Standstill
from flow.process.verdict import Limits
from flow.roles.parse.scratch import Scratch
from flow.roles.parse.tail import Tail

_SPARE: Final = 4
"""Processes forked ahead of their imports (`flow.process.stock`)."""
_LARGEST: Final = 64 * 1024 * 1024
"""Bytes that the DAGs of one file may take."""


@dataclass(slots=True)
class Import:
    """A file that is being imported. Times are of the monotonic clock, in seconds."""

    path: str
    started: float
    deadline: float
    tail: Tail
    overdue: bool = False
    """It was stopped at its deadline."""
    slow: bool = False
    """It was found to take long."""
    gave_way: bool = False
    """It was stopped to make room for others."""
    variables: dict[str, str | None] = field(default_factory=dict)
    """What it has read, with stamps."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An import that has ended, and of which no process is left."""

    path: str
    started: float
    seconds: float
    last: LastWords
    """What it printed last, and said in dying."""
    overdue: bool
    ended: JobEnded | None
    """None: the zygote died, and the import with it."""
    gave_way: bool = False
    variables: Mapping[str, str | None] = field(default_factory=dict)


class Imports:
    """A host and what it imports. One readable descriptor, for the loop's selector.

    `timezone` is that of DAGs whose start date names none. `keep` names processes that may have
    moved up to this one and are no leftovers of an import. `observe` has every import tell what it
    does beside defining DAGs.
    """

    def __init__(
        self,
        name: str,
        limits: Limits,
        user: TaskUser | None = None,
        keep: Callable[[], Collection[int]] = tuple,
        timezone: str = "UTC",
        *,
        observe: bool = False,
    ) -> None:
        self._timezone = timezone
        self._observe = observe
        self._limits = limits
        self._user = user
        self._scratch = Scratch()
        self.host = Host(name, spare=_SPARE, user=user, limit=_LARGEST, keep=keep)
        self._running: dict[int, Import] = {}
        self._free: list[Tail] = []
        """Of imports that have ended. A file system may take long for many new names in a row."""
        # Killed, never continued: the file that does this is to get an error that says so, and the
        # others lose nothing but a moment, for they are imported again.
        self._standstill = Standstill(self.host)
        self._selector = selectors.EpollSelector()
        self._selector.register(self.host, selectors.EVENT_READ)

    def fileno(self) -> int:
        """Readable when `news` has something to say."""
        return self._selector.fileno()

    def __len__(self) -> int:
        return len(self._running)

    def start(self, path: str, root: str) -> None:
        """Import a file of a DAG folder."""
        now = time.monotonic()
        tail = self._free_tail()
        job_id = self.host.start(
            ParseJob(
                file=path,
                root=root,
                timezone=self._timezone,
                log=str(tail.path),
                memory=self._limits.memory,
                timeout=self._limits.timeout,
                observe=self._observe,
            )
        )
        self._running[job_id] = Import(path, now, now + self._limits.timeout, tail)

    def news(self) -> Iterator[Imported | ChildMessage]:
        """What has happened: imports that ended, and requests to be answered; never blocks."""
        ready = [key.data for key, _ in self._selector.select(0)]
        for tail in filter(None, ready):
            tail.read()
        for event in self.host.events():
            match event:
                case ChildMessage():
                    yield event
                case ZygoteReady():
                    self._count_from_now()
                case JobEnded():
                    yield self._end(event.job_id, event)
                case ZygoteDied():
                    self.host.restart()
                    for job_id in event.job_ids:
                        yield self._end(job_id, None)

    def stop_overdue(self) -> None:
        """Kill the imports whose time is up, and all of them where one has stopped the zygote."""
        now = time.monotonic()
        if self._running:
            self._standstill.look()
        else:
            self._standstill.forget()
        for job_id, one in self._running.items():
            if one.deadline <= now and not one.overdue:
                one.overdue = True
                self.host.stop(job_id, grace=0.0)

    def _count_from_now(self) -> None:
        """Let the time count from now on: what a zygote is told as it loads waits until it has."""
        deadline = time.monotonic() + self._limits.timeout
        for one in self._running.values():
            one.deadline = deadline

    def note_variable(self, job_id: int, key: str, stamp: str | None) -> None:
        """Remember that an import has read a variable."""
        if job_id in self._running:
            self._running[job_id].variables[key] = stamp

    def reading(self) -> set[str]:
        """The variables that have been read by what is being imported."""
        return {key for one in self._running.values() for key in one.variables}

    def give_way(self, seconds: float, yields: Callable[[str], bool]) -> None:
        """Stop those imports that take longer than `seconds` and have to make room for others.

        `yields` says which ones; it is asked once about each, and again while it has to stay.
        """
        slow_since = time.monotonic() - seconds
        for job_id, one in self._running.items():
            if one.started <= slow_since and not one.gave_way and not one.overdue:
                one.slow = True
                if yields(one.path):
                    one.gave_way = True
                    self.host.stop(job_id, grace=0.0)

    def next_deadline(self, slow: float | None = None) -> float | None:
        """When `stop_overdue` has something to do, or `give_way` of so many seconds."""
        if not self._running:
            return None
        alive = [one for one in self._running.values() if not (one.overdue or one.gave_way)]
        moments = [
            one.deadline if slow is None or one.slow else one.started + slow for one in alive
        ]
        return min([*moments, self._standstill.look_at])

    def rest(self) -> None:
        """Give back what only many imports at once need."""
        while len(self._free) > 1:
            self._drop(self._free.pop())

    def close(self) -> None:
        """End all imports."""
        self.host.close()
        for tail in (*self._free, *(one.tail for one in self._running.values())):
            tail.close()
        self._free.clear()
        self._running.clear()
        self._selector.close()
        self._scratch.remove()

    def _free_tail(self) -> Tail:
        """The tail of an import that has ended, else a new one."""
        while self._free:
            tail = self._free.pop()
            if tail.intact():
                return tail
            self._drop(tail)
        tail = Tail(self._scratch.path / os.urandom(8).hex(), self._user)
        self._selector.register(tail, selectors.EVENT_READ, tail)
        return tail

    def _drop(self, tail: Tail) -> None:
        self._selector.unregister(tail)
        tail.close()

    def _end(self, job_id: int, ended: JobEnded | None) -> Imported:
        one = self._running.pop(job_id)
        last = last_words(one.tail.take() or "", one.path)
        self._free.append(one.tail)
        return Imported(
            path=one.path,
            started=one.started,
            seconds=time.monotonic() - one.started,
            last=last,
            overdue=one.overdue,
            ended=ended,
            gave_way=one.gave_way,
            variables=one.variables,
        )
