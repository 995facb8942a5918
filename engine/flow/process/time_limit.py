"""A limit on the time of what cannot be asked to be quick: other people's timetables and patterns.

A regular expression can take longer than the universe has stood. Python looks for signals while it
matches, so that a timer ends it; what hangs in other C code it does not end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final, TypeVar

_T = TypeVar("_T")

_SIGNALS: Final = {
    signal.ITIMER_REAL: (signal.SIGALRM, ""),
    signal.ITIMER_PROF: (signal.SIGPROF, " of a processor"),
}
"""The signal of a timer, and what its seconds are of."""
_AGAIN: Final = 0.1
"""Seconds after which what has caught the first interrupt gets another one."""


class OutOfTime(BaseException):
    """It took too long; no `except Exception` of what was called may stop this."""


def call_within(seconds: float, call: Callable[[], _T], *, timer: int = signal.ITIMER_PROF) -> _T:
    """What `call` returns; `OutOfTime` is raised in it once its time is up.

    By default seconds of a processor, so that a busy machine takes nothing of them; by ITIMER_REAL
    those of the clock. In the main thread only, where signals are handled; elsewhere there is no
    limit. Nothing else of this process may use the timer and its signal meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    number, unit = _SIGNALS[timer]
    inside = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        if inside:
            raise OutOfTime(f"it took longer than {seconds:.3g} s{unit}")

    before = signal.signal(number, interrupt)
    try:
        signal.setitimer(timer, seconds, _AGAIN)
        return call()
    finally:
        inside = False  # first of all: nothing may interrupt what follows
        signal.setitimer(timer, 0)
        signal.signal(number, before)
