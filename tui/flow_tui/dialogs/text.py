"""Lines about one thing, with the command that prints the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from flow.errors import FlowError
from flow.wording.cells import printable
from flow_tui.background import start
from flow_tui.dialogs.dialog import Dialog
from flow_tui.sentences import of_error
from flow_tui.session import Operation
from flow_tui.widgets.page import Page

_HEADING: Final = re.compile(r"[A-Z]{2,}( [A-Z]{2,})*\b")


class TextDialog(Dialog[None]):
    """What an operation says, as lines; longer ones than the terminal is high scroll."""

    DEFAULT_CSS = """
    TextDialog > .box { max-width: 120; max-height: 90%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,backspace", "dismiss", show=False),
    ]

    def __init__(self, command: str, answer: Operation[list[str]]) -> None:
        super().__init__()
        self._command = command
        self._answer = answer

    @property
    def commands(self) -> Sequence[str]:
        return (self._command,)

    def compose(self) -> ComposeResult:
        page = Page("looking …", classes="box")
        page.border_title = Text(printable(self._command))
        page.border_subtitle = f"{self.COPY_KEY} copies the command · esc closes"
        yield page

    def on_mount(self) -> None:
        self.query_one(Page).focus()
        start(self, self._ask)

    async def _ask(self) -> None:
        try:
            lines = await self.flow.session.read(self._answer)
        except FlowError as error:
            lines = of_error(error)
        self.query_one(Page).show(Text("\n").join(_line(line) for line in lines))


def _line(line: str) -> Text:
    """Words in capitals at the beginning are headings."""
    text = Text(printable(line))
    heading = _HEADING.match(text.plain)
    if heading:
        text.stylize("bold", 0, heading.end())
    return text
