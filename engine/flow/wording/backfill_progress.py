"""How a backfill is coming on: its intervals as cells, its rate and what is left, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from flow.wording.cells import duration_text
from flow.wording.looks import LOOKS, Look

if TYPE_CHECKING:
    from flow.ops.backfills import Details

LOUDEST: Final = ("failed", "running", "queued", "waiting", "success", "deleted")
"""Of the states of the intervals that one cell stands for, the first of these is shown."""
_LOOKS: Final = {"waiting": "none", "deleted": "removed"}
"""States of intervals that runs do not have, and the state whose look they have."""


@dataclass(slots=True)
class Speed:
    """How many runs end in how much time, from the first look on. Times are monotonic seconds."""

    began: float
    before: int
    """Runs that had ended then."""

    def per_minute(self, ended: int, now: float) -> float | None:
        """Runs a minute; None before any has ended."""
        new, seconds = ended - self.before, now - self.began
        return 60 * new / seconds if new > 0 and seconds > 0 else None

    def left(self, ended: int, total: int, now: float) -> float | None:
        """Seconds until all have ended, at this rate; None: not known yet."""
        rate = self.per_minute(ended, now)
        return None if rate is None else 60 * (total - ended) / rate


def cells(states: Sequence[str], width: int) -> list[str]:
    """A bar of at most `width` cells: the state of each, the loudest of the intervals in it."""
    size = max(1, -(-len(states) // max(1, width)))
    return [
        min(states[first : first + size], key=LOUDEST.index)
        for first in range(0, len(states), size)
    ]


def in_words(details: Details, speed: Speed, now: float) -> str:
    """Numbers, rate and time left."""
    backfill = details.backfill
    ended = backfill.done + backfill.failed
    parts = [f"{ended} of {backfill.total}"]
    if backfill.failed:
        parts.append(f"{backfill.failed} failed")
    if backfill.running:
        parts.append(f"{backfill.running} running")
    if backfill.state in ("paused", "cancelled"):
        parts.append(backfill.state)
    rate, left = speed.per_minute(ended, now), speed.left(ended, backfill.total, now)
    if rate is not None:
        parts.append(f"{rate:.3g} runs/min")
    if left is not None and ended < backfill.total:
        parts.append(f"{duration_text(left)} left")
    return ", ".join(parts)


def look_of(state: str) -> Look:
    """How the state of an interval looks."""
    return LOOKS[_LOOKS.get(state, state)]
