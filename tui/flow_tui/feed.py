"""When to look at the database again: soon while things change, seldom while nothing does.

Pure: the app asks after each look how long to wait. The change counter is cheap to read and moves
with every batch that a role or an operation has committed; what moves without it (claims, a
heartbeat that stays away) is seen by looking anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BUSY: Final = 0.5
"""Seconds between two looks at the counter while things change."""
IDLE: Final = 2.0
"""Seconds between two looks at the counter when nothing has changed for a while."""
CALM: Final = 10.0
"""Seconds without a change after which it counts as idle."""
ANYWAY: Final = 2.0
"""Seconds after which a busy screen is read anyway."""
ANYWAY_IDLE: Final = 10.0
"""The same when nothing changes."""
OVERDUE: Final = 3.0
"""Seconds without an answer after which it is said that what is shown may be old."""
RETRIES: Final = (0.5, 1.0, 2.0, 5.0)
"""Seconds before the first attempts to reach a lost database; the last one from then on."""


@dataclass(slots=True)
class Pace:
    """How often to look. Times are seconds of a monotonic clock."""

    counter: int | None = None
    changed_at: float = float("-inf")
    read_at: float = float("-inf")
    failures: int = 0

    def saw(self, counter: int, now: float) -> bool:
        """Take in the counter; whether the screens should be read."""
        self.failures = 0
        if counter != self.counter:
            self.counter, self.changed_at = counter, now
            stale = True
        else:
            stale = now - self.read_at >= (ANYWAY if self._busy(now) else ANYWAY_IDLE)
        if stale:
            self.read_at = now
        return stale

    def failed(self) -> None:
        """The database did not answer."""
        self.failures += 1

    def nudge(self, now: float) -> None:
        """Somebody has just changed something here: look closely for a while."""
        self.changed_at, self.read_at = now, float("-inf")

    def wait(self, now: float) -> float:
        """Seconds until the next look."""
        if self.failures:
            return RETRIES[min(self.failures, len(RETRIES)) - 1]
        return BUSY if self._busy(now) else IDLE

    def _busy(self, now: float) -> bool:
        return now - self.changed_at < CALM
