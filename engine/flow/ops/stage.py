"""The processes of a command that runs user code: a zygote, its jobs, a pipe for what each says."""

from __future__ import annotations

import math
import selectors
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import msgspec

from flow.logs.begun import BegunLine
from flow.logs.text import Readable
from flow.ops.interrupts import Interrupts
from flow.process.environment import TaskUser
from flow.process.events import ChildMessage, JobEnded, JobStarted, ZygoteDied
from flow.process.host import Host
from flow.process.jobs import Job
from flow.process.messages import ToChild
from flow.process.pipe import NamedPipe


class Output(NamedTuple):
    """What a job has said, as readable text; seldom less than a whole line."""

    job_id: int
    text: str


class Interrupted(NamedTuple):
    """Somebody wants the command to end, and has said so this many times."""

    times: int


Happening = Output | JobStarted | ChildMessage | JobEnded | ZygoteDied | Interrupted


@dataclass(slots=True)
class _Voice:
    pipe: NamedPipe
    text: Readable = field(default_factory=Readable)
    line: BegunLine = field(default_factory=BegunLine)

    def end(self) -> str:
        """The last words of a dead job."""
        return self.line.end(self.text.feed(self.pipe.close(), final=True))


class Stage:
    """A host whose jobs write to pipes. Leaving it ends every process.

    `user` runs the jobs as another user (`flow.process.host.Host`).
    """

    def __init__(self, user: TaskUser | None = None) -> None:
        self._user = user
        self._interrupts = Interrupts()
        self._voices: dict[int, _Voice] = {}
        self._started = 0
        self._selector = selectors.EpollSelector()
        self._host = Host(uuid.uuid4().hex, user=user)
        self._folder = Path(tempfile.mkdtemp(prefix="flow-"))
        if user is not None:
            self._folder.chmod(0o711)  # it has to reach the pipes, by their names
        self._selector.register(self._host, selectors.EVENT_READ)
        self._selector.register(self._interrupts, selectors.EVENT_READ)

    def start(self, job: Job) -> int:
        """Start a job; its log becomes a pipe of this stage. Returns its number."""
        self._started += 1
        pipe = NamedPipe(self._folder / str(self._started), self._user)
        job_id = self._host.start(msgspec.structs.replace(job, log=str(pipe.path)))
        self._voices[job_id] = _Voice(pipe)
        self._selector.register(pipe, selectors.EVENT_READ, job_id)
        return job_id

    def stop(self, job_id: int, grace: float) -> None:
        """SIGTERM to a job's process, SIGKILL to its tree after `grace` seconds."""
        self._host.stop(job_id, grace)

    def reply(self, job_id: int, message: ToChild) -> None:
        """Answer a request; raises ProtocolError if the answer is too large."""
        self._host.reply(job_id, message)

    def wait(self, seconds: float | None) -> Iterator[Happening]:
        """What happens next: waits for it at most `seconds`, without a limit for None."""
        ready = [key for key, _ in self._selector.select(self._until_due(seconds))]
        for key in ready:
            if key.data is not None:
                yield from self._listen(key.data)
        yield from self._tell_due()
        for key in ready:
            if key.fileobj is self._host:
                yield from self._host_events()
            elif key.fileobj is self._interrupts:
                self._interrupts.acknowledge()
                yield Interrupted(self._interrupts.count)

    def _host_events(self) -> Iterator[Happening]:
        for event in self._host.events():
            match event:
                case JobEnded():
                    yield from self._silence(event.job_id)
                    yield event
                case ZygoteDied():
                    for job_id in event.job_ids:
                        yield from self._silence(job_id)
                    self._host.restart()
                    yield event
                case JobStarted() | ChildMessage():
                    yield event

    def _listen(self, job_id: int) -> Iterator[Output]:
        voice = self._voices[job_id]
        text = voice.text.feed(voice.pipe.read())
        if told := voice.line.hear(text, time.monotonic()):
            yield Output(job_id, told)

    def _until_due(self, seconds: float | None) -> float | None:
        due = min((voice.line.due for voice in self._voices.values()), default=math.inf)
        if due == math.inf:
            return seconds
        left = max(0.0, due - time.monotonic())
        return left if seconds is None else min(seconds, left)

    def _tell_due(self) -> Iterator[Output]:
        now = time.monotonic()
        for job_id, voice in self._voices.items():
            if text := voice.line.tell_due(now):
                yield Output(job_id, text)

    def _silence(self, job_id: int) -> Iterator[Output]:
        """The last words of a dead job."""
        voice = self._voices.pop(job_id)
        self._selector.unregister(voice.pipe)
        if text := voice.end():
            yield Output(job_id, text)

    def __enter__(self) -> Self:
        self._interrupts.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._host.close()
        for voice in self._voices.values():
            voice.pipe.close()
        self._selector.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._interrupts.__exit__(kind, error, traceback)
