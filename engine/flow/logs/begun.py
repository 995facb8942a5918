"""A line of one voice among several: its beginning waits a moment for its end.

`print("a", 1)` writes in four pieces, and nobody wants to see between them what another one says.
"""

from __future__ import annotations

import math
from typing import Final

_HELD: Final = 0.5
"""Most seconds for which the beginning of a line waits for its end."""
_LONGEST: Final = 1 << 16
"""Characters of it, at most."""


class BegunLine:
    """Takes the text of one voice as it comes, and gives what may be told: seldom half a line.

    Moments are in seconds of one clock that only grows.
    """

    def __init__(self) -> None:
        self._begun = ""
        self.due = math.inf
        """When what is held is told as it is."""

    def hear(self, text: str, now: float) -> str:
        """What may be told once `text` has come."""
        whole, newline, begun = (self._begun + text).rpartition("\n")
        if not begun or len(begun) > _LONGEST:
            return self._tell(whole + newline + begun)
        if newline or not self._begun:
            self.due = now + _HELD
        self._begun = begun
        return whole + newline

    def tell_due(self, now: float) -> str:
        """The beginning of a line that has waited long enough for its end."""
        return self._tell(self._begun) if self.due <= now else ""

    def end(self, text: str) -> str:
        """All that is left, with the last `text` of the voice."""
        return self._tell(self._begun + text)

    def _tell(self, text: str) -> str:
        self._begun, self.due = "", math.inf
        return text
