"""Standard streams and logging of a process that runs user code.

The host has made file descriptors 1 and 2 the log of the job; here they get the Python side, the
same whatever the locale says. Text that UTF-8 cannot write is escaped, not an error.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class LineFormatter(logging.Formatter):
    """`[2026-10-09T06:00:00.123+00:00] INFO logger - text`, and the traceback below it."""

    def __init__(self) -> None:
        super().__init__("[%(asctime)s] %(levelname)s %(name)s - %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """The moment of the record in UTC, with milliseconds."""
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


_formatter: Final = LineFormatter()


class _AtOnce(io.FileIO):
    """Writes what it is given before it returns, all of it.

    A process that is killed loses no half line that it has printed, and who follows its log sees a
    progress bar that never ends its line. A raw file would write less than it is given when a
    signal interrupts it, and text streams do not look. One with a buffer refuses a signal handler
    that prints when it has interrupted a `print`.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        """The number of bytes, which is all of them."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            written = super().write(rest)
            if written is None:
                raise BlockingIOError(errno.EAGAIN, "the output takes no more", size - len(rest))
            rest = rest[written:]
        return size


def open_ahead() -> None:
    """Set up stdin, stdout, stderr and logging in the process that forks those which run user code.

    Its children find the objects ready, whatever their descriptors 1 and 2 are by then.
    """
    _open_outputs()
    # User code that reads finds the end of the input; exit() closes this object and nothing else.
    nothing = os.open(os.devnull, os.O_RDONLY)
    if nothing != 0:
        os.dup2(nothing, 0)
        os.close(nothing)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for all its life
    log_to(sys.stdout)


def _open_outputs() -> None:
    """Make new objects for descriptors 1 and 2, at a moment at which these are pipes.

    Python takes for granted that they stay what they are: what was made for a file asks where in
    it it stands, which fails for a pipe; what was made for a pipe never does.
    """
    reader, writer = os.pipe()
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        getattr(sys, name).flush()
        kept = os.dup(descriptor)
        os.dup2(writer, descriptor)
        stream = io.TextIOWrapper(
            _AtOnce(descriptor, "w", closefd=False),
            encoding="utf-8",
            errors="backslashreplace",
            newline="\n",
            write_through=True,
        )
        os.dup2(kept, descriptor)
        os.close(kept)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.close(reader)
    os.close(writer)


def log_to(stream: TextIO) -> None:
    """Have all loggers write lines of level INFO and above to one stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    _take_level(root)


def _take_level(root: logging.Logger) -> None:
    # To set a level makes every logger forget what it knows of its own, which writes to each of
    # them: in a child, to memory that it shares.
    if root.level != logging.INFO:
        root.setLevel(logging.INFO)


def flush() -> None:
    """Write out what streams and log handlers still hold, as far as that works."""
    handlers = [reference() for reference in logging._handlerList]  # type: ignore[attr-defined]
    for sink in (*filter(None, handlers), sys.stdout, sys.stderr):
        try:
            sink.flush()
        except Exception:
            pass  # the disk is full, or user code has closed or replaced the stream
