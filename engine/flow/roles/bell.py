"""A bell: rung by a signal handler or another thread, heard in a selector."""

from __future__ import annotations

import os

_AT_ONCE = 4096
"""Bytes read at a time; what more rings leave behind wakes somebody for nothing."""


class Bell:
    """A pipe of its own. It can be heard from a `ring` until it is silenced."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)

    def fileno(self) -> int:
        """Readable while it rings."""
        return self._reader

    def ring(self) -> None:
        """Be heard; ringing again is legal. It never waits."""
        try:
            os.write(self._writer, b"x")
        except BlockingIOError:
            pass  # the pipe is full of earlier rings: whoever listens will wake all the same

    def silence(self) -> None:
        """Be heard no more until the next ring."""
        try:
            os.read(self._reader, _AT_ONCE)
        except BlockingIOError:
            pass  # nothing there: a wake-up for another reason

    def close(self) -> None:
        """Close the pipe; closing twice is legal."""
        if self._reader >= 0:
            os.close(self._reader)
            os.close(self._writer)
            self._reader = self._writer = -1
