"""Durations as bars: a column for each, drawn in eighths of a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

HEIGHT: Final = 3
"""Lines that the longest bar takes."""
EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_IN_ASCII: Final = "    :::##"


def bars(values: Sequence[float | None], *, symbols: bool) -> list[list[str]]:
    """Rows of one sign for each value, the top one first; the longest takes all of them.

    Without a value nothing is drawn; whatever is more than nothing is seen.
    """
    longest = max((value for value in values if value is not None), default=0.0)
    signs = EIGHTHS if symbols else _IN_ASCII
    full = len(EIGHTHS) - 1
    heights = [_height(value, longest, HEIGHT * full) for value in values]
    return [
        [signs[max(0, min(full, height - below * full))] for height in heights]
        for below in reversed(range(HEIGHT))
    ]


def _height(value: float | None, longest: float, steps: int) -> int:
    if value is None or longest <= 0:
        return 0
    return max(1, round(value / longest * steps))
