"""Ctrl-C and SIGTERM as something to wait for, so that they strike between two steps only."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Final, Self

from flow.roles.bell import Bell

_HANDLED: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Counts both signals while it is entered; readable in a selector when there is a new one.

    Afterwards they mean what they did before. Only the main thread hears signals: entered in
    another one, it counts nothing.
    """

    def __init__(self) -> None:
        self.count = 0
        self._bell = Bell()

    def fileno(self) -> int:
        return self._bell.fileno()

    def acknowledge(self) -> None:
        """Be readable no more until the next signal."""
        self._bell.silence()

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
        self._bell.close()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        self._bell.ring()
