"""Imports that are under way: one child each, with a time limit and the tail of its output."""

from __future__ import annotations

import os
import selectors
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from flow.process.environment import TaskUser
from flow.process.events import ChildMessage, JobEnded, ZygoteDied
from flow.process.host import Host
from flow.process.messages import ParseJob
from flow.process.verdict import Limits
from flow.roles.parse.tail import Tail

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


@dataclass(frozen=True, slots=True)
class Imported:
    """An import that has ended, and of which no process is left."""

    path: str
    started: float
    seconds: float
    output: str | None
    overdue: bool
    ended: JobEnded | None
    """None: the zygote died, and the import with it."""


class Imports:
    """A host and what it imports. One readable descriptor, for the loop's selector.

    `timezone` is that of DAGs whose start date names none. `keep` names processes that may have
    moved up to this one and are no leftovers of an import.
    """

    def __init__(
        self,
        name: str,
        limits: Limits,
        user: TaskUser | None = None,
        keep: Callable[[], Collection[int]] = tuple,
        timezone: str = "UTC",
    ) -> None:
        self._timezone = timezone
        self._limits = limits
        self._user = user
        self._folder = Path(tempfile.mkdtemp(prefix="flow-parse-"))
        self._folder.chmod(0o711)  # a task user has to reach the pipes, by their names
        self.host = Host(name, user=user, limit=_LARGEST, keep=keep)
        self._running: dict[int, Import] = {}
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
        tail = Tail(self._folder / os.urandom(8).hex(), self._user)
        job_id = self.host.start(
            ParseJob(
                file=path,
                root=root,
                timezone=self._timezone,
                log=str(tail.path),
                memory=self._limits.memory,
            )
        )
        self._selector.register(tail, selectors.EVENT_READ, tail)
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
                case JobEnded():
                    yield self._end(event.job_id, event)
                case ZygoteDied():
                    self.host.restart()
                    for job_id in event.job_ids:
                        yield self._end(job_id, None)

    def stop_overdue(self) -> None:
        """Kill the imports whose time is up."""
        now = time.monotonic()
        for job_id, one in self._running.items():
            if one.deadline <= now and not one.overdue:
                one.overdue = True
                self.host.stop(job_id, grace=0.0)

    def next_deadline(self) -> float | None:
        """When `stop_overdue` has something to do."""
        return min(
            (one.deadline for one in self._running.values() if not one.overdue), default=None
        )

    def close(self) -> None:
        """End all imports."""
        self.host.close()
        for one in self._running.values():
            one.tail.close()
        self._running.clear()
        self._selector.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _end(self, job_id: int, ended: JobEnded | None) -> Imported:
        one = self._running.pop(job_id)
        self._selector.unregister(one.tail)
        return Imported(
            path=one.path,
            started=one.started,
            seconds=time.monotonic() - one.started,
            output=one.tail.close(),
            overdue=one.overdue,
            ended=ended,
        )
