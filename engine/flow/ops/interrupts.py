"""Ctrl-C and SIGTERM as something to wait for, so that they strike between two steps only."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Final, Self

_HANDLED: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Counts both signals while it is entered; readable in a selector when there is a new one.

    Afterwards they mean what they did before. Only the main thread hears signals: entered in
    another one, it counts nothing.
    """

    def __init__(self) -> None:
        self.count = 0
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)

    def fileno(self) -> int:
        return self._reader

    def acknowledge(self) -> None:
        """Be readable no more until the next signal."""
        try:
            os.read(self._reader, 1024)
        except BlockingIOError:
            pass  # nothing there: a wake-up for another reason

    def __enter__(self) -> Self:
        heard = _HANDLED if threading.current_thread() is threading.main_thread() else ()
        self._before = [(number, signal.signal(number, self._note)) for number in heard]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, before in self._before:
            signal.signal(number, before)
        os.close(self._reader)
        os.close(self._writer)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        try:
            os.write(self._writer, b"x")
        except BlockingIOError:
            pass  # full of earlier ones: the reader will wake all the same
