"""Numbers of the last minutes, as a line of bars: what a screen has seen, and no more."""

from __future__ import annotations

from collections import deque
from typing import Final

from flow.wording.bars import EIGHTHS

KEPT: Final = 600.0
"""Seconds that are kept."""
HOLDS: Final = 15.0
"""A number holds so many seconds, until the next one is seen."""


class Samples:
    """What a number was, by time. Times are in seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, number: int, now: float) -> None:
        """A number was seen."""
        self._seen.append((now, number))
        while self._seen[0][0] < now - KEPT:
            self._seen.popleft()

    def line(self, width: int, now: float) -> str:
        """A bar for each part of the time that is kept, the newest last; blank: nobody looked.

        Of a part the largest number counts, against the largest one of all.
        """
        if width <= 0 or not self._seen:
            return " " * width
        part = KEPT / width
        found: list[int | None] = [None] * width
        seen = list(self._seen)
        ends = [at for at, _ in seen[1:]] + [now]
        for (at, number), end in zip(seen, ends, strict=True):
            first = max(0, width - 1 - int((now - at) / part))
            last = width - 1 - int((now - min(end, at + HOLDS)) / part)
            for place in range(first, last + 1):
                found[place] = max(found[place] or 0, number)
        most = max((number for number in found if number is not None), default=0)
        return "".join(" " if number is None else _bar(number, most) for number in found)


def _bar(number: int, most: int) -> str:
    full = len(EIGHTHS) - 1
    return EIGHTHS[max(1, round(number / most * full))] if number else EIGHTHS[1]
