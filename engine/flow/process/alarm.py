"""A deadline on CLOCK_BOOTTIME: the clock that never jumps and goes on while the host sleeps."""

from __future__ import annotations

import os
import time

from flow.process import prctl


def now() -> float:
    """The present, in seconds of CLOCK_BOOTTIME."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Alarm:
    """A deadline that can be moved, and a descriptor that becomes readable when it has passed.

    An alarm that was never set is never due.
    """

    def __init__(self) -> None:
        self._timer = prctl.boottime_timer()
        self._until: float | None = None

    def fileno(self) -> int:
        return self._timer

    def set(self, until: float) -> None:
        """Move the deadline, to a later or an earlier time than before."""
        self._until = until
        # Not to 0, which would disarm the timer, and late rather than early by a rounding, so
        # that the alarm is due when the timer says so.
        prctl.set_timer(self._timer, max(until, 0.0) + 1e-6)

    def due(self) -> bool:
        """Whether the deadline has passed. It stays so until it is moved."""
        return self._until is not None and now() >= self._until

    def acknowledge(self) -> None:
        """Make the descriptor unreadable until the deadline is moved."""
        try:
            os.read(self._timer, 8)
        except BlockingIOError:
            pass

    def close(self) -> None:
        """Give the descriptor back; `fileno` is -1 from then on. May be called twice."""
        if self._timer >= 0:
            os.close(self._timer)
            self._timer = -1
