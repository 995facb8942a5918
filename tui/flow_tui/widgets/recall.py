"""A line to type into, which recalls what was entered there before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class RecallInput(Input):
    """Up and down recall what was entered before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
    ]
    _past: Sequence[str] = ()
    _place: int | None = None
    """Where in the past one is; None: at what is being typed."""
    _typed: str = ""

    def begin(self, past: Sequence[str]) -> None:
        """Begin to type, with this past, the newest last."""
        self._past, self._place = past, None
        self.cursor_position = len(self.value)
        self.focus()

    def action_recall(self, by: int) -> None:
        """Show what was entered before, or after that."""
        if self._place is None:
            self._typed = self.value
        place = (len(self._past) if self._place is None else self._place) + by
        if place < 0 or not self._past:
            return
        self._place = place if place < len(self._past) else None
        self.value = self._typed if self._place is None else self._past[place]
        self.cursor_position = len(self.value)
