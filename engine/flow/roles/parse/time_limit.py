"""A limit on the time of what cannot be asked to be quick: the matching of other people's patterns.

A regular expression can take longer than the universe has stood. Python looks for signals while it
matches, so an alarm ends it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after so many seconds.

    In the main thread only, where signals are handled; elsewhere there is no limit. Nothing else
    of this process may use SIGALRM meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def strike(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"it takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, strike)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
