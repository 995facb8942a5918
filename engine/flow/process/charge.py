"""A job in the supervisor's hands: its end of the job line, and what the child has said on it."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterable
from typing import Final

import msgspec

from flow.process.events import ChildMessage, JobEnded, Result
from flow.process.messages import (
    Ended,
    Finished,
    FromChild,
    Outcome,
    ToChild,
)
from flow.process.wire import Line
from flow.states import TaskState

_FINAL: Final = frozenset({TaskState.SUCCESS, TaskState.SKIPPED})
"""Ends after which the same work is not begun again. What ends otherwise may be retried, and is
over only when its processes are dead, whatever they say."""

_decoder = msgspec.msgpack.Decoder(FromChild)


class Charge:
    """One job. Results are kept until the job is over; the rest is passed on."""

    def __init__(self, job_id: int, end: socket.socket, limit: int) -> None:
        self.job_id = job_id
        self.watched = 0
        """Events for which a selector watches the line at present."""
        self.started = False
        """Whether the zygote has said so: a quick child may be done before it is heard."""
        self._line = Line(end, _decoder, name="host", limit=limit)
        self._result: Result | None = None
        self._finished: Finished | None = None

    def fileno(self) -> int:
        return self._line.fileno()

    @property
    def interest(self) -> int:
        """What to wait for. Nothing is read from a child that does not read its answers."""
        if self._line.pending:
            return selectors.EVENT_WRITE
        return 0 if self._line.ended or self.broken else selectors.EVENT_READ

    @property
    def broken(self) -> bool:
        """Whether the child sent what it may not send."""
        return self._line.violation is not None

    @property
    def reported(self) -> bool:
        """Whether the child reported a result that counts."""
        return self._result is not None and not self.broken

    def read(self) -> list[ChildMessage]:
        """What a living child has sent, a bounded amount of it."""
        self._line.flush()
        return self._take([] if self._line.pending else self._line.receive())

    def read_rest(self) -> list[ChildMessage]:
        """All that a dead child had sent."""
        return self._take(self._line.receive_all())

    def reply(self, message: ToChild) -> None:
        """Answer the child; raises ProtocolError if the answer is too large."""
        self._line.send(message)

    def end(self, ended: Ended) -> JobEnded:
        """The end of the job, with the result if one was reported."""
        violation = self._line.violation
        return JobEnded(
            job_id=self.job_id,
            result=None if violation else self._result,
            exit_code=ended.exit_code,
            signal=ended.signal,
            peak_rss=ended.peak_rss,
            cpu_time=ended.cpu_time,
            killed="protocol" if violation else ended.killed,
            error=violation.message if violation else ended.error,
        )

    def end_early(self) -> JobEnded | None:
        """The end of a started job by its own account, if it may count before the process is dead.

        The exit code is what it has announced. Whatever strikes the process from here on strikes
        one whose code has all run, and changes nothing about how the job ended.
        """
        result, finished = self._result, self._finished
        if not self.started:
            return None
        if not isinstance(result, Outcome) or result.state not in _FINAL:
            return None
        if finished is None or self.broken:
            return None
        return JobEnded(
            job_id=self.job_id,
            result=result,
            exit_code=0,
            peak_rss=finished.peak_rss,
            cpu_time=finished.cpu_time,
            leaving=True,
        )

    def end_with_zygote(self) -> JobEnded:
        """The end of a job of which the zygote can give no account any more."""
        return JobEnded(job_id=self.job_id, result=self._result, killed="zygote")

    def close(self) -> None:
        self._line.close()

    def _take(self, messages: Iterable[FromChild]) -> list[ChildMessage]:
        passed_on = []
        for message in messages:
            if isinstance(message, Finished):
                self._finished = message
            elif not isinstance(message, Result):
                passed_on.append(ChildMessage(self.job_id, message))
            elif self._result is None:
                self._result = message
        return passed_on
