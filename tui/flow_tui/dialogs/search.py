"""Asking for a few letters, with those that were asked for before at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input


class SearchDialog(ModalScreen[str | None]):
    """Ends with the letters, empty to search no more, or None."""

    DEFAULT_CSS = """
    SearchDialog { background: transparent; }
    SearchDialog Input { dock: bottom; background: $surface; }
    SearchDialog Input, SearchDialog Input:focus { border: round $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("up", "recall(-1)", show=False, priority=True),
        Binding("down", "recall(1)", show=False, priority=True),
    ]

    def __init__(self, before: str, history: Sequence[str]) -> None:
        super().__init__()
        self._before = before
        self._history = [*history, ""]
        self._at = len(self._history) - 1

    def compose(self) -> ComposeResult:
        box = Input(self._before, placeholder="search the log; up recalls")
        box.border_title = "search"
        yield box

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """These letters."""
        self.dismiss(event.value)

    def action_recall(self, by: int) -> None:
        """Those of an earlier search."""
        self._at = max(0, min(len(self._history) - 1, self._at + by))
        box = self.query_one(Input)
        box.value = self._history[self._at]
        box.cursor_position = len(box.value)
