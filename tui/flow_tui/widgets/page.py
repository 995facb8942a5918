"""Text to read: headings, fields, lines; scrolled by keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from flow.wording.cells import printable, width_of
from flow_tui.movements import LINES
from flow_tui.widgets.hanging import Hanging


class Page(VerticalScroll, can_focus=True):
    """One text."""

    DEFAULT_CSS = """
    Page { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*LINES]

    def __init__(self, text: str = "", *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._text = Text(text)

    def compose(self) -> ComposeResult:
        yield Static(Hanging(self._text))

    def action_move(self, by: int) -> None:
        """Scroll by so many lines."""
        self.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by a screenful."""
        self.action_move(by * max(1, self.size.height - 1))

    def action_edge(self, last: bool) -> None:
        """To the first line or the last."""
        self.scroll_to(y=self.max_scroll_y if last else 0, animate=False)

    def show(self, text: Text | Iterable[str]) -> None:
        """Show another text; where somebody has scrolled to stays."""
        self._text = text if isinstance(text, Text) else Text("\n".join(map(printable, text)))
        for static in self.query(Static):
            static.update(Hanging(self._text))


def fields(values: Mapping[str, str]) -> Text:
    """Names and values below each other; values of several lines stay below their start."""
    room = max((width_of(name) for name in values), default=0)
    text = Text()
    for name, value in values.items():
        first, *rest = value.splitlines() or [""]
        text.append(f"{name:<{room}}  ", "dim")
        text.append(printable(first) + "\n")
        for line in rest:
            text.append(" " * (room + 2) + printable(line) + "\n")
    return text
