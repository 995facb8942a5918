"""Lines about one thing, with the command that prints the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from flow.errors import FlowError
from flow.wording.cells import printable
from flow_tui.background import start
from flow_tui.movements import moves
from flow_tui.session import Operation
from flow_tui.widgets.hanging import Hanging

if TYPE_CHECKING:
    from flow_tui.app import FlowApp

_HEADING: Final = re.compile(r"[A-Z]{2,}( [A-Z]{2,})*\b")


class TextDialog(ModalScreen[None]):
    """What an operation says, as lines; longer ones than the terminal is high scroll."""

    DEFAULT_CSS = """
    TextDialog > VerticalScroll {
        width: 90%; max-width: 120; height: auto; max-height: 90%;
        background: $surface; border: round $primary; padding: 0 1;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,backspace", "dismiss", show=False),
        moves("move.down", "scroll(1)", "j"),
        moves("move.up", "scroll(-1)", "k"),
        Binding("y", "copy", show=False),
    ]

    def __init__(self, command: str, answer: Operation[list[str]]) -> None:
        super().__init__()
        self.command = command
        self._answer = answer

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = Text(printable(self.command))
            box.border_subtitle = "y copies the command · esc closes"
            yield Static("looking …", markup=False)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        start(self, self._ask)

    async def _ask(self) -> None:
        try:
            lines = await cast("FlowApp", self.app).session.read(self._answer)
        except FlowError as error:
            lines = [error.message, error.hint]
        shown = Text("\n").join(_line(line) for line in lines)
        self.query_one(Static).update(Hanging(shown))

    def action_scroll(self, by: int) -> None:
        """Scroll by so many lines."""
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)

    def action_copy(self) -> None:
        """Copy the command."""
        self.app.copy_to_clipboard(self.command)
        self.notify("copied", timeout=2)


def _line(line: str) -> Text:
    """Words in capitals at the beginning are headings."""
    text = Text(printable(line))
    heading = _HEADING.match(text.plain)
    if heading:
        text.stylize("bold", 0, heading.end())
    return text
