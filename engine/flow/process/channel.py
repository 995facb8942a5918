"""The child's end of its job line: blocking requests from code that may be interrupted.

User code may have several threads, may fork, and may have signal handlers that raise (an alarm as
a time limit, SIGTERM) or that ask something themselves. None of that may give a request another
one's answer. So all waiting is done where nothing is under way: an exception there leaves behind
a message to be sent and an answer to be thrown away, both known. One that strikes elsewhere, at
the worst moment, makes the channel refuse to go on.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from flow.errors import ProtocolError
from flow.process.messages import FromChild, ToChild
from flow.process.wire import DEFAULT_LIMIT, READ_SIZE, decode, encode, frame, point

_decoder = msgspec.msgpack.Decoder(ToChild)


class Channel:
    """Blocking, usable from several threads, not across a fork. `name` is the end's in its fault
    points.
    """

    def __init__(
        self, end: socket.socket, limit: int = DEFAULT_LIMIT, *, name: str = "child"
    ) -> None:
        end.setblocking(False)
        self._name = name
        self._end = end
        self._limit = limit
        self._owner = os.getpid()
        self._turn = threading.RLock()
        self._busy = False
        self._torn = False
        """Between an act and the record of it; an exception there loses count."""
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self._owed = 0
        """Answers that will still come, those to requests that were given up among them."""

    def fileno(self) -> int:
        return self._end.fileno()

    def send(self, message: FromChild) -> None:
        """Send a message that has no answer.

        Raises ProtocolError, and sends nothing, if the message is too large, or the caller is a
        fork of the line's owner or a signal handler that interrupted another request. Raises it
        too when the supervisor is gone, and after an interruption that lost count.
        """
        data = encode(message, self._limit)
        point(self._name, message, "before_send")
        with self._exchange():
            self._send(data, answers=0)
        point(self._name, message, "after_send")

    def ask(self, message: FromChild) -> ToChild:
        """Send a request and wait for its answer. Errors as in `send`."""
        data = encode(message, self._limit)
        point(self._name, message, "before_send")
        with self._exchange():
            self._send(data, answers=1)
            point(self._name, message, "after_send")
            # Answers come in the order of the requests: the last one owed is this one's.
            answer = self._receive()
            while self._owed:
                answer = self._receive()
            point(self._name, answer, "received")
            return answer

    def close(self) -> None:
        self._end.close()

    @contextmanager
    def _exchange(self) -> Iterator[None]:
        if os.getpid() != self._owner:
            raise ProtocolError(
                "only the process that runs the task can talk to the supervisor, not a fork of it",
                "hand the value back to the task's own process and let it ask or push",
            )
        with self._turn:
            if self._busy:
                raise ProtocolError(
                    "a signal handler cannot talk to the supervisor in the middle of a request",
                    "fetch connections and variables before, where the task starts",
                )
            if self._torn:
                raise ProtocolError(
                    "an earlier request was interrupted in a way that lost count of the answers",
                    "do not raise from signal handlers or other threads during requests",
                )
            self._busy = True
            try:
                yield
            finally:
                self._busy = False

    def _send(self, data: bytes, answers: int) -> None:
        self._torn = True
        self._outgoing += data
        self._owed += answers
        self._torn = False
        while self._outgoing:
            self._wait(select.POLLOUT)
            self._torn = True
            try:
                sent = self._end.send(self._outgoing)
            except BlockingIOError:
                sent = 0
            except ConnectionError:
                raise self._gone() from None
            del self._outgoing[:sent]
            self._torn = False

    def _receive(self) -> ToChild:
        while not (bounds := frame(self._incoming, 0, self._limit)):
            self._wait(select.POLLIN)
            self._torn = True
            try:
                data = self._end.recv(READ_SIZE)
            except BlockingIOError:
                data = None
            except ConnectionError:
                data = b""
            if data == b"":
                raise self._gone()
            self._incoming += data or b""
            self._torn = False
        start, end = bounds
        self._torn = True
        body = bytes(self._incoming[start:end])
        del self._incoming[:end]
        self._owed -= 1
        self._torn = False
        return decode(_decoder, body)

    def _wait(self, event: int) -> None:
        waiting = select.poll()
        waiting.register(self._end, event)
        waiting.poll()

    def _gone(self) -> ProtocolError:
        self._torn = False  # the next request finds the supervisor gone as well
        return ProtocolError(
            "the supervisor of this process is gone", "the task will be stopped; nothing to do"
        )
