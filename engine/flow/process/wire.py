"""Framing of messages on a socket: four bytes of length, big-endian, then msgpack.

A `Line` is an end that never blocks, for supervisor and zygote: a peer that stops in the middle of
a message, or does not read, costs them a buffer and no time. A child's end is a `Channel`
(`flow.process.channel`), which blocks.

File descriptors travel beside a message as SCM_RIGHTS. The kernel attaches them to the message's
first byte and never merges two messages that have some, so they are here when the message is, in
the order of the messages.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from array import array
from collections import deque
from collections.abc import Sequence
from typing import Final, Generic, TypeVar

import msgspec

from flow import faults
from flow.errors import ProtocolError
from flow.process.messages import Message

DEFAULT_LIMIT: Final = 64 * 1024 * 1024
"""Largest message, in bytes."""

ENVELOPE: Final = 1024
"""Bytes that a control message may have around the job it carries."""

_LENGTH: Final = struct.Struct(">I")
READ_SIZE: Final = 64 * 1024
"""Most bytes taken from a line at one go, so that a flood on one does not hold up the others."""
_MAX_DESCRIPTORS: Final = 4
"""Room for descriptors per read: a message brings one, and the kernel ends a read after it."""

_DESCRIPTOR_SIZE: Final = array("i").itemsize

# As numbers: each child and each turn of the zygote ask, and an enumeration takes a dozen calls.
_DESCRIPTORS: Final = (int(socket.SOL_SOCKET), int(socket.SCM_RIGHTS))
_CLOSE_ON_EXEC: Final = int(socket.MSG_CMSG_CLOEXEC)
_TRUNCATED: Final = int(socket.MSG_CTRUNC)

_encoder = msgspec.msgpack.Encoder()

M = TypeVar("M", bound=Message)


def point(end: str, message: Message, moment: str) -> None:
    """The fault point of a message at one end: `host.start.before_send`.

    Moments are before_send, after_send and received (before anything follows from it).
    """
    faults.point(f"{end}.{message.__struct_config__.tag}.{moment}")


def encode(message: Message, limit: int = DEFAULT_LIMIT) -> bytes:
    """The framed bytes of a message. Raises ProtocolError if it is larger than `limit` bytes."""
    body = _encoder.encode(message)
    check_size(len(body), limit)
    return _LENGTH.pack(len(body)) + body


def check_size(size: int, limit: int) -> None:
    """Raise ProtocolError for a message of `size` bytes where `limit` bytes are allowed."""
    if size > limit:
        raise ProtocolError(
            f"a message of {size:,} bytes is larger than the limit of {limit:,} bytes",
            "store large values outside and pass on where they are",
        )


def decode(decoder: msgspec.msgpack.Decoder[M], body: bytes) -> M:
    """Decode a message's body. Raises ProtocolError if it is none of the expected messages."""
    try:
        return decoder.decode(body)
    except msgspec.MsgspecError as error:
        raise ProtocolError(f"the peer sent a message that it may not send: {error}") from None


def receive_descriptors(
    end: socket.socket, size: int, room: int
) -> tuple[bytes, Sequence[int], bool]:
    """At most `size` bytes with at most `room` descriptors, none of which an exec passes on.

    The third value tells whether descriptors were lost: the process has too many files open, or
    there was no room. (`socket.recv_fds` ignores its flags, so its descriptors survive an exec.)
    """
    data, ancillary, flags, _ = end.recvmsg(
        size, socket.CMSG_SPACE(room * _DESCRIPTOR_SIZE), _CLOSE_ON_EXEC
    )
    descriptors = array("i")
    for level, kind, content in ancillary:
        if (level, kind) == _DESCRIPTORS:
            descriptors.frombytes(content[: len(content) - len(content) % _DESCRIPTOR_SIZE])
    return data, descriptors, bool(flags & _TRUNCATED)


def frame(data: bytearray | memoryview, start: int, limit: int) -> tuple[int, int] | None:
    """Where the body of the message at `start` begins and ends, if all of it is there.

    Raises ProtocolError as soon as its length is known to be above `limit`, in bytes.
    """
    if len(data) - start < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack_from(data, start)
    check_size(size, limit)
    begin = start + _LENGTH.size
    return (begin, begin + size) if begin + size <= len(data) else None


class Line(Generic[M]):
    """An end of a line that never blocks: what cannot be sent waits, what is half read waits.

    `name` is the end's in its fault points. Descriptors that come with messages are taken only
    with `take_descriptors`; else the kernel closes them, so that a peer cannot fill this process's
    table.
    """

    def __init__(
        self,
        end: socket.socket,
        decoder: msgspec.msgpack.Decoder[M],
        *,
        name: str,
        limit: int = DEFAULT_LIMIT,
        take_descriptors: bool = False,
    ) -> None:
        end.setblocking(False)
        self._end = end
        self._decoder = decoder
        self._name = name
        self._limit = limit
        self._room = _MAX_DESCRIPTORS if take_descriptors else 0
        self._outgoing: deque[tuple[memoryview, Sequence[int]]] = deque()
        self._incoming = bytearray()
        self._descriptors: deque[int | None] = deque()
        self.ended = False
        """The peer closed its end or died, and all that it had sent was read."""
        self.violation: ProtocolError | None = None
        """What the peer did that it may not do; nothing more is read from it then."""

    def fileno(self) -> int:
        return self._end.fileno()

    @property
    def pending(self) -> bool:
        """Whether something waits to be sent: call `flush` when the line is writable."""
        return bool(self._outgoing)

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send a message, now as far as possible and the rest at `flush`.

        The descriptors become the line's own; it closes them once they are sent. Raises
        ProtocolError, and leaves them alone, if the message is too large. A peer that is gone
        is not an error here: reading tells.
        """
        point(self._name, message, "before_send")
        data = encode(message, self._limit)
        self._outgoing.append((memoryview(data), descriptors))
        self.flush()
        point(self._name, message, "after_send")

    def flush(self) -> None:
        """Send what waits, as far as the peer takes it."""
        while self._outgoing:
            data, descriptors = self._outgoing[0]
            try:
                sent = self._send(data, descriptors)
            except ConnectionError:
                self._drop_outgoing()
                return
            except OSError as error:
                # ETOOMANYREFS: too many descriptors are under way; the peer has to read first.
                if error.errno in (errno.EAGAIN, errno.ETOOMANYREFS):
                    return
                raise
            _close_all(descriptors)
            if sent == len(data):
                self._outgoing.popleft()
            else:
                self._outgoing[0] = (data[sent:], ())

    def receive(self) -> list[M]:
        """The messages that are complete after one read; sets `ended` and `violation`."""
        self._read()
        return self._complete()

    def receive_all(self) -> list[M]:
        """The messages that are complete when nothing more is there to read.

        For a peer that is trusted or dead: a live one that sends without pause would hold this up.
        """
        messages = []
        while self._read():
            messages += self._complete()
        return messages

    def take_descriptor(self) -> int:
        """The oldest descriptor received and not yet taken; the caller's to close.

        Raises ProtocolError if none came, or if this process had too many files open for it.
        """
        descriptor = self._descriptors.popleft() if self._descriptors else None
        if descriptor is None:
            raise ProtocolError(
                "a message came without the file descriptor that belongs to it",
                "if many files are open, raise the limit (ulimit -n, LimitNOFILE=)",
            )
        return descriptor

    def close(self) -> None:
        self._drop_outgoing()
        _close_all([descriptor for descriptor in self._descriptors if descriptor is not None])
        self._descriptors.clear()
        self._end.close()

    def _send(self, data: memoryview, descriptors: Sequence[int]) -> int:
        if descriptors:
            return socket.send_fds(self._end, [data], descriptors)
        return self._end.send(data)

    def _read(self) -> bool:
        """Read once; whether something came."""
        if self.ended or self.violation:
            return False
        try:
            data = self._receive_bytes()
        except BlockingIOError:
            return False
        except ConnectionError:
            data = b""
        self.ended = not data
        self._incoming += data
        return not self.ended

    def _receive_bytes(self) -> bytes:
        if not self._room:
            return self._end.recv(READ_SIZE)
        data, descriptors, lost = receive_descriptors(self._end, READ_SIZE, self._room)
        self._descriptors.extend(descriptors)
        if lost:
            # The next message must not get another one's descriptor.
            self._descriptors.append(None)
        return data

    def _complete(self) -> list[M]:
        messages = []
        start = 0
        with memoryview(self._incoming) as view:
            try:
                while bounds := frame(view, start, self._limit):
                    begin, start = bounds
                    message = decode(self._decoder, bytes(view[begin:start]))
                    point(self._name, message, "received")
                    messages.append(message)
            except ProtocolError as error:
                # Without its traceback, which would keep views of the buffer alive.
                self.violation = error.with_traceback(None)
        if self.violation:
            self._incoming = bytearray()
        elif start:
            del self._incoming[:start]
        return messages

    def _drop_outgoing(self) -> None:
        for _, descriptors in self._outgoing:
            _close_all(descriptors)
        self._outgoing.clear()


def _close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
