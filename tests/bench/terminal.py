"""A program in a terminal of a fixed size, as somebody who types sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

COLUMNS: Final = 120
LINES: Final = 40
QUIET: Final = 0.020
"""Seconds without output after which a paint is over."""
_PATIENCE: Final = 60.0 * float(os.environ.get("FLOW_TEST_PATIENCE", "1"))
_CHUNK: Final = 1 << 16


class Terminal:
    """The side of the person: what is typed goes in, what is painted comes out."""

    def __init__(self, master: int, pid: int) -> None:
        self._master = master
        self.pid = pid

    def press(self, key: bytes) -> float | None:
        """Type a key; seconds until the last byte of what it paints, None if it paints nothing."""
        began = time.perf_counter()
        os.write(self._master, key)
        last = None
        # The first byte is waited for longer: a machine may be busy.
        while self._readable(QUIET if last is not None else 0.5):
            self._read()
            last = time.perf_counter()
        return None if last is None else last - began

    def await_text(self, text: str) -> float:
        """Seconds from now until a text has been painted. Raises `TimeoutError`."""
        began = time.perf_counter()
        seen = b""
        while text.encode() not in seen:
            if not self._readable(began + _PATIENCE - time.perf_counter()):
                raise TimeoutError(f"{text!r} was not painted; the last was {seen[-400:]!r}")
            seen = seen[-_CHUNK:] + self._read()
        return time.perf_counter() - began

    def settle(self, quiet: float = 0.5) -> None:
        """Wait until nothing has been painted for so many seconds."""
        while self._readable(quiet):
            self._read()

    def _readable(self, seconds: float) -> bool:
        return bool(select.select([self._master], [], [], max(0.0, seconds))[0])

    def _read(self) -> bytes:
        try:
            return os.read(self._master, _CHUNK)
        except OSError as error:
            raise RuntimeError("the program has ended") from error


@contextmanager
def program(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[Terminal]:
    """Run a program in a terminal, and end it."""
    pid, master = pty.fork()
    if pid == 0:
        os.execve(command[0], list(command), {**environment, **_TERMINAL})
    try:
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        yield Terminal(master, pid)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(master)


_TERMINAL: Final = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "COLUMNS": str(COLUMNS),
    "LINES": str(LINES),
}
