"""A log: as much of it as is seen, following its end until somebody scrolls up."""

from __future__ import annotations

import re
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from flow.wording.cells import width_of
from flow_tui.log_model import Search
from flow_tui.movements import LINES

AROUND: Final = 100
"""Lines that are kept ready before and after those that are seen."""
_LOUD: Final = re.compile(r"\b(ERROR|CRITICAL|FATAL|Traceback|Exception|Error)\b|\wError:")
_MILD: Final = re.compile(r"\b(WARN|WARNING)\b")
_TELLING: Final = 1000
"""Characters of a line that tell how loud it is."""


class LogView(ScrollView, can_focus=True):
    """Lines of a log. Which ones it needs it says with `Wanted`; `show_lines` answers."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log--error",
        "log--warning",
        "log--found",
        "log--here",
    }
    DEFAULT_CSS = """
    LogView { height: 1fr; background: $background; }
    LogView > .log--error { color: $text-error; }
    LogView > .log--warning { color: $text-warning; }
    LogView > .log--found { background: $accent 40%; }
    LogView > .log--here { background: $accent; color: $background; text-style: bold; }
    LogView:ansi > .log--found { background: $background; text-style: underline; }
    LogView:ansi > .log--here { background: $background; color: $accent; text-style: bold reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *LINES,
        Binding("space", "page(1)", show=False),
    ]

    lines: reactive[int] = reactive(0, repaint=False)
    """How many lines the log has."""
    top: reactive[int] = reactive(0)
    """The line that is shown first."""
    following: reactive[bool] = reactive(True)
    wrapped: reactive[bool] = reactive(True)

    class Wanted(Message):
        """These lines are needed."""

        def __init__(self, first: int, count: int) -> None:
            super().__init__()
            self.first = first
            self.count = count

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, LogView.Wanted)

    class Changed(Message):
        """Where one is, or how it is shown, has changed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._first = 0
        self._texts: list[str] = []
        self.search: Search | None = None
        self._found: frozenset[int] = frozenset()
        self._rows: list[tuple[int, int]] = []
        """Of each row that is seen: its line, and from which character on."""

    # ── what it shows ────────────────────────────────────────────────────────────────────────────

    def begin(self) -> None:
        """Another log: nothing is known of it yet."""
        self.search, self._found = None, frozenset()
        self._first, self._texts = 0, []
        self.set_reactive(LogView.following, True)
        self.set_reactive(LogView.top, 0)
        self.set_reactive(LogView.lines, 0)
        self.refresh()

    def grew(self, lines: int) -> None:
        """The log has so many lines now."""
        if lines == self.lines:
            return
        self.lines = lines
        if self.following:
            self._go_to_end()
        self._want()

    def show_lines(self, first: int, texts: list[str]) -> None:
        """The texts of lines that were wanted."""
        self._first, self._texts = first, texts
        if self.following:
            self._go_to_end()
        self._layout_rows()
        self.refresh()

    def show_search(self, search: Search | None) -> None:
        """Mark lines, and go to the one that somebody is on."""
        self.search = search
        self._found = frozenset(search.lines if search else ())
        line = search.line if search else None
        if line is not None:
            self.following = False
            self._go_to(max(0, line - self.size.height // 3))
        self.refresh()
        self.post_message(self.Changed())

    def ready(self, line: int) -> str | None:
        """The text of a line; None: not read yet."""
        at = line - self._first
        return self._texts[at] if 0 <= at < len(self._texts) else None

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────

    @property
    def _width(self) -> int:
        return max(1, self.size.width - 1)

    def _layout_rows(self) -> None:
        rows: list[tuple[int, int]] = []
        line = self.top
        while line < self.lines and len(rows) < self.size.height:
            rows += [(line, start) for start in self._starts_of(line)]
            line += 1
        self._rows = rows[: self.size.height]
        self.virtual_size = Size(self.size.width, self.size.height)

    def _starts_of(self, line: int) -> list[int]:
        text = self.ready(line)
        if text is None or not self.wrapped:
            return [0]
        return _breaks(text, self._width)

    def _go_to_end(self) -> None:
        """The last line at the bottom."""
        left, line = self.size.height, self.lines
        while line > 0 and left > 0:
            left -= len(self._starts_of(line - 1))
            if left < 0:
                break
            line -= 1
        self.set_reactive(LogView.top, min(line, max(0, self.lines - 1)))
        self._layout_rows()
        self.refresh()

    def _go_to(self, line: int) -> None:
        self.top = max(0, min(line, self.lines - 1))

    def watch_top(self) -> None:
        self._layout_rows()
        self._want()
        self.post_message(self.Changed())

    def watch_following(self, following: bool) -> None:
        if following:
            self._go_to_end()
            self._want()
        self.post_message(self.Changed())

    def watch_wrapped(self) -> None:
        if self.following:
            self._go_to_end()
        self._layout_rows()
        self.refresh()

    def _want(self) -> None:
        """Ask for lines unless all that are seen are there."""
        seen = range(self.top, min(self.lines, self.top + self.size.height))
        ends = (*seen[:1], *seen[-1:])
        if any(self.ready(line) is None for line in ends):
            first = max(0, self.top - AROUND)
            self.post_message(self.Wanted(first, self.size.height + 2 * AROUND))

    # ── looks ────────────────────────────────────────────────────────────────────────────────────

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        if y >= len(self._rows):
            return Strip.blank(self.size.width, base)
        line, start = self._rows[y]
        text = self.ready(line)
        if text is None:
            return Strip.blank(self.size.width, base)
        shown = text[start:]
        if self.wrapped:
            following = self._rows[y + 1] if y + 1 < len(self._rows) else None
            if following and following[0] == line:
                shown = text[start : following[1]]
        style = self._style(text)
        segments = [Segment(shown, style)]
        if self.search and line in self._found:
            here = line == self.search.line
            segments = self._marked(shown, style, here=here)
        return Strip(segments).adjust_cell_length(self.size.width).apply_style(base)

    def _style(self, text: str) -> Style:
        if _LOUD.search(text, 0, _TELLING):
            return self.get_component_rich_style("log--error", partial=True)
        if _MILD.search(text, 0, _TELLING):
            return self.get_component_rich_style("log--warning", partial=True)
        return Style.null()

    def _marked(self, text: str, style: Style, *, here: bool) -> list[Segment]:
        assert self.search is not None
        mark = self.get_component_rich_style("log--here" if here else "log--found")
        segments, at = [], 0
        for match in self.search.pattern.finditer(text):
            segments.append(Segment(text[at : match.start()], style))
            segments.append(Segment(match.group(), mark))
            at = match.end()
        return [*segments, Segment(text[at:], style)]

    # ── keys and mouse ───────────────────────────────────────────────────────────────────────────

    def action_move(self, by: int) -> None:
        """Scroll by so many lines; up stops following, down to the end follows again."""
        at_end = not self._rows or self._rows[-1][0] >= self.lines - 1
        if by > 0 and at_end:
            self.following = True
            return
        if by < 0:
            self.following = False
        self._go_to(self.top + by)

    def action_page(self, by: int) -> None:
        """Scroll by a screenful."""
        self.action_move(by * max(1, self.size.height - 1))

    def action_edge(self, last: bool) -> None:
        """To the first line, or to the last and on with it."""
        if last:
            self.following = True
        else:
            self.following = False
            self._go_to(0)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(3)

    def on_resize(self) -> None:
        if self.following:
            self._go_to_end()
        self._layout_rows()
        self._want()


def _breaks(text: str, width: int) -> list[int]:
    """Where the rows of a text begin that is folded at a width."""
    if text.isascii():
        return list(range(0, max(1, len(text)), width))
    starts, used = [0], 0
    for at, character in enumerate(text):
        used += width_of(character)
        if used > width:
            starts.append(at)
            used = width_of(character)
    return starts
