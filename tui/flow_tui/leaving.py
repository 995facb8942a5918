"""Leaving a terminal: whoever asks for it gets it, whatever hangs; and none is left to be seen.

Ordinarily the interface takes itself down. It cannot where its output is stuck: a terminal that
reads no more, or that is gone. A thread waits for that, and ends the process.
"""

from __future__ import annotations

import os
import select
import signal
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

GRACE: Final = 2.0
"""Seconds within which the interface takes itself down; then the process ends without it."""
_AS_IT_WAS: Final = (
    b"\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l"  # no mouse
    b"\x1b[?1004l\x1b[?2004l\x1b[<u\x1b[?7h"  # no focus, no pastes, plain keys, lines that wrap
    b"\x1b[?1049l\x1b[?25h"  # what was shown before, with a cursor
)


class Leaving:
    """Waits until somebody leaves, or the terminal is gone: then `gone` is called.

    Of the process, not of a screen: `begin` may be called from signal handlers and any thread.
    """

    def __init__(self, terminal: int, gone: Callable[[], None]) -> None:
        self._terminal = terminal
        self._gone = gone
        self._attributes: list[Any] = termios.tcgetattr(terminal)
        self._code = 128 + signal.SIGHUP
        self._asked, self._ask = os.pipe()
        self._over, self._end = os.pipe()
        self._thread = threading.Thread(target=self._wait, name="flow-tui-leaving", daemon=True)
        self._thread.start()

    def begin(self, code: int) -> None:
        """From now on the process has `GRACE` seconds, and ends with this code."""
        self._code = code
        os.write(self._ask, b"!")

    def over(self) -> None:
        """It has taken itself down."""
        os.write(self._end, b"!")
        self._thread.join()
        for pipe in (self._asked, self._ask, self._over, self._end):
            os.close(pipe)

    def _wait(self) -> None:
        left = select.poll()
        left.register(self._terminal, 0)  # tells of nothing but its end
        left.register(self._asked, select.POLLIN)
        left.register(self._over, select.POLLIN)
        why = {descriptor for descriptor, _ in left.poll()}
        if self._terminal in why:
            self._gone()
        over = select.poll()
        over.register(self._over, select.POLLIN)
        if not over.poll(GRACE * 1000):
            self._leave_as_it_was()
            os._exit(self._code)

    def _leave_as_it_was(self) -> None:
        """Undo what the interface has told the terminal, as far as it listens."""
        with suppress(OSError, termios.error):
            termios.tcsetattr(self._terminal, termios.TCSANOW, self._attributes)
            # Opened anew: whether writing waits is shared by all who have the same opening of it.
            way = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
            os.write(os.open(os.ttyname(self._terminal), way), _AS_IT_WAS)


@contextmanager
def leaving(terminal: int, gone: Callable[[], None]) -> Iterator[Leaving]:
    """A way out for as long as the block takes."""
    made = Leaving(terminal, gone)
    try:
        yield made
    finally:
        made.over()
