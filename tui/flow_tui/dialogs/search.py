"""Asking for a few letters, with those that were asked for before at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from flow_tui.dialogs.dialog import Dialog
from flow_tui.widgets.recall import RecallInput


class SearchDialog(Dialog[str | None]):
    """Ends with the letters, empty to search no more, or None."""

    DEFAULT_CSS = """
    SearchDialog { background: transparent; }
    SearchDialog Input { dock: bottom; background: $surface; }
    SearchDialog Input, SearchDialog Input:focus { border: round $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
    ]

    def __init__(self, before: str, history: Sequence[str]) -> None:
        super().__init__()
        self._before = before
        self._history = history

    def compose(self) -> ComposeResult:
        box = RecallInput(self._before, placeholder="letters of a line")
        box.border_title = "search the log"
        box.border_subtitle = "enter searches · ↑ earlier ones · esc closes"
        yield box

    def on_mount(self) -> None:
        self.query_one(RecallInput).begin(self._history)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """These letters."""
        self.dismiss(event.value)
