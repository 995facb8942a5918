"""A table of rows that are kept as data: twenty thousand are as quick as twenty.

Only the lines that are seen are drawn. The cursor and the selection stay with their rows, whatever
the order and the filter. Columns give way by rank where the terminal is narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, ClassVar, Final, Generic

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from flow.wording.cells import printable, width_of
from flow.wording.layout import padded, shortened
from flow_tui.movements import LINES, moves
from flow_tui.widgets.columns import GAP, Row, shared_out
from flow_tui.widgets.columns import Column as Column  # whoever makes a table makes them
from flow_tui.widgets.fitting import Cell as Cell  # columns are made of them
from flow_tui.widgets.fitting import Piece as Piece
from flow_tui.widgets.fitting import plain, without_end

_ROOM_SAMPLED: Final = 200
"""Rows that are measured to find the width of a column."""


class Table(ScrollView, Generic[Row], can_focus=True):
    """Rows below headings, one of them under the cursor."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "table--heading",
        "table--cursor",
        "table--selected",
        "table--empty",
    }
    DEFAULT_CSS = """
    Table {
        height: 1fr; background: $background; overflow-x: hidden; scrollbar-size-vertical: 1;
    }
    Table > .table--heading { color: $text-muted; text-style: bold; }
    Table > .table--cursor { background: $primary 25%; }
    Table:focus > .table--cursor { background: $primary 45%; text-style: bold; }
    Table > .table--selected { background: $secondary 30%; }
    Table:ansi > .table--cursor { background: $background; text-style: underline; }
    Table:ansi:focus > .table--cursor {
        background: $block-cursor-background; color: $block-cursor-foreground;
        text-style: $block-cursor-text-style;
    }
    Table:ansi > .table--selected { background: $background; }
    Table > .table--empty { color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *LINES,
        moves("sort.previous", "sort_by(-1)"),
        moves("sort.next", "sort_by(1)"),
        moves("sort.turn", "turn"),
    ]

    at: reactive[int] = reactive(0, repaint=False)
    """The place of the cursor among the rows that are shown."""

    class Moved(Message):
        """The cursor is on another row, or the row has changed; None: there is none."""

        def __init__(self, row: object) -> None:
            super().__init__()
            self.row = row

    class Chosen(Message):
        """Somebody wants to see more of the row under the cursor."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        key: Callable[[Row], Hashable],
        *,
        empty: str = "nothing here",
        headed: bool = True,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._head = 1 if headed else 0
        """Lines above the rows."""
        self._columns = columns
        self._key = key
        self.empty = empty
        """What is said where there are no rows."""
        self._all: Sequence[Row] = ()
        self._fits: Callable[[Row], bool] | None = None
        self._sorted_by: int | None = None
        self._turned = False
        self._widths: list[tuple[int, int]] = []
        """Which columns are shown, and how wide."""
        self._shared_out = 0
        """The width that they share."""
        self.rows: list[Row] = []
        """Those that are shown, in their order."""
        self.selected: set[Hashable] = set()
        """Keys of the selected rows."""
        self._range_from: Hashable | None = None

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows instead; cursor and selection stay with theirs."""
        self._all = rows
        self.selected &= {self._key(row) for row in rows} if self.selected else set()
        self._arrange()

    def filter(self, fits: Callable[[Row], bool] | None) -> None:
        """Show only rows that fit; None: all."""
        self._fits = fits
        self._arrange()

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.at] if 0 <= self.at < len(self.rows) else None

    @property
    def in_sight(self) -> list[Row]:
        """The rows that are seen."""
        top = self.scroll_offset.y
        return self.rows[top : top + max(0, self.size.height - self._head)]

    @property
    def chosen(self) -> list[Row]:
        """The selected rows that are shown; without any the one under the cursor."""
        marked = []
        if self.selected:
            marked = [row for row in self.rows if self._key(row) in self.selected]
        return marked or [row for row in [self.current] if row is not None]

    def go_to(self, key: Hashable) -> bool:
        """Put the cursor on the row with this key; whether there is one."""
        for place, row in enumerate(self.rows):
            if self._key(row) == key:
                self.at = place
                return True
        return False

    def _arrange(self) -> None:
        before = self.current
        key = self._key(before) if before is not None else None
        rows = self._all if self._fits is None else [row for row in self._all if self._fits(row)]
        self.rows = list(rows)
        if self._sorted_by is not None:
            column = self._columns[self._sorted_by]
            by = column.sort or (lambda row: plain(column.cell(row)))
            self.rows.sort(key=lambda row: _none_last(by(row)), reverse=self._turned)
        self._measure()
        if key is None or not self.go_to(key):
            self.at = min(self.at, max(0, len(self.rows) - 1))
        self.refresh()
        self.post_message(self.Moved(self.current))

    # ── looks ────────────────────────────────────────────────────────────────────────────────────

    def _measure(self) -> None:
        self._share_out()
        self.virtual_size = Size(self._width, len(self.rows) + self._head)

    @property
    def _width(self) -> int:
        """What is left beside the scrollbar."""
        return self.scrollable_content_region.width

    def _share_out(self) -> None:
        """Share the width out; columns that find no room are left out."""
        self._shared_out = self._width
        texts = [
            [plain(column.cell(row)) for row in self.rows[:_ROOM_SAMPLED]]
            for column in self._columns
        ]
        self._widths = shared_out(self._columns, texts, max(1, self._width - 1))

    def render_line(self, y: int) -> Strip:
        width = self._width
        if width != self._shared_out:  # it is drawn before it is told of its size
            self._share_out()
        if y < self._head:
            return self._heading(width)
        base = self.rich_style
        if not self.rows:
            style = self.get_component_rich_style("table--empty")
            said = [Segment(f" {self.empty}", style)] if y == self._head else []
            return _strip(said, width, base)
        at = y - self._head + self.scroll_offset.y
        if at >= len(self.rows):
            return Strip.blank(width, base)
        row = self.rows[at]
        segments = self._line(row)
        if self._key(row) in self.selected:
            base = base + self.get_component_rich_style("table--selected")
            segments[0] = Segment("▌", segments[0].style)
        if at == self.at:
            base = base + self.get_component_rich_style("table--cursor")
            if self.has_focus and self.app.native_ansi_color:
                segments = [Segment(one.text) for one in segments]  # none of 16 shades is a tint
        return _strip(segments, width, base)

    def _heading(self, width: int) -> Strip:
        style = self.get_component_rich_style("table--heading")
        segments = [Segment(" ", style)]
        for at, room in self._widths:
            column = self._columns[at]
            arrow = ("▼" if self._turned else "▲") if at == self._sorted_by else ""
            text = padded(shortened(column.heading + arrow, room, symbols=True), room, column.right)
            segments.append(Segment(text + " " * GAP, style))
        return _strip(segments, width, self.rich_style)

    def _line(self, row: Row) -> list[Segment]:
        segments = [Segment(" ", Style.null())]
        for at, room in self._widths:
            column = self._columns[at]
            segments += _cell(column, column.cell(row), room)
            segments.append(Segment(" " * GAP, Style.null()))
        return segments

    # ── the cursor ───────────────────────────────────────────────────────────────────────────────

    def validate_at(self, at: int) -> int:
        return max(0, min(at, len(self.rows) - 1))

    def watch_at(self, before: int, now: int) -> None:
        if self._range_from is not None:
            self._select_range()
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved(self.current))

    def _keep_in_sight(self) -> None:
        height = max(1, self.size.height - self._head)  # below the headings, which stay
        top = self.scroll_offset.y
        if self.at < top:
            self.scroll_to(y=self.at, animate=False)
        elif self.at >= top + height:
            self.scroll_to(y=self.at - height + 1, animate=False)

    def action_move(self, by: int) -> None:
        """Move the cursor by so many rows."""
        self.at += by

    def action_page(self, by: int) -> None:
        """Move the cursor by a screenful."""
        self.at += by * max(1, self.size.height - self._head - 1)

    def action_edge(self, last: bool) -> None:
        """Move the cursor to the first or last row."""
        self.at = len(self.rows) - 1 if last else 0

    def action_sort_by(self, by: int) -> None:
        """Order by the next or previous column; past the ends, in the order in which rows came."""
        shown = (at for at, _ in self._widths)
        places: list[int | None] = [None, *(at for at in shown if self._columns[at].ordered)]
        self._sorted_by = places[(places.index(self._sorted_by) + by) % len(places)]
        self._arrange()

    def action_turn(self) -> None:
        """Turn the order around."""
        self._turned = not self._turned
        self._arrange()

    # ── the selection ────────────────────────────────────────────────────────────────────────────

    def toggle(self) -> None:
        """Select the row under the cursor, or no more; the cursor goes on to the next."""
        row = self.current
        if row is not None:
            self.selected ^= {self._key(row)}
            self.at += 1
            self.refresh()

    def begin_range(self) -> None:
        """Select from here to wherever the cursor goes; the second time it ends there."""
        if self._range_from is not None or self.current is None:
            self._range_from = None
            return
        self._range_from = self._key(self.current)
        self._select_range()

    def select_none(self) -> None:
        """Select nothing."""
        self._range_from = None
        self.selected.clear()
        self.refresh()

    def _select_range(self) -> None:
        keys = [self._key(row) for row in self.rows]
        if self._range_from not in keys:
            self._range_from = None
            return
        ends = sorted((keys.index(self._range_from), self.at))
        self.selected = set(keys[ends[0] : ends[1] + 1])
        self.refresh()

    # ── events ───────────────────────────────────────────────────────────────────────────────────

    def on_resize(self, event: events.Resize) -> None:
        self._measure()
        self._keep_in_sight()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        at = event.y - self._head + self.scroll_offset.y
        if event.y < self._head or at >= len(self.rows):
            return
        again = self.at == at and event.chain > 1
        self.at = at
        if again:
            self.post_message(self.Chosen())

    def refresh_lines_seen(self) -> None:
        """Draw again what is seen: times have passed."""
        self.refresh(Region(0, self._head, self.size.width, self.size.height - self._head))


def _cell(column: Column[Any], cell: Cell, room: int) -> list[Segment]:
    cut = without_end if column.prose else partial(shortened, symbols=True)
    if isinstance(cell, str | Piece):
        piece = Piece(cell) if isinstance(cell, str) else cell
        text = padded(cut(printable(piece.text), room), room, column.right)
        return [Segment(text, Style.parse(piece.style))]
    segments, left = [], room
    for piece in cell:
        text = without_end(printable(piece.text), left)
        segments.append(Segment(text, Style.parse(piece.style)))
        left -= width_of(text)
    space = Segment(" " * left, Style.null())
    return [space, *segments] if column.right else [*segments, space]


def _strip(segments: Sequence[Segment], width: int, base: Style) -> Strip:
    return Strip(segments).adjust_cell_length(width).crop(0, width).apply_style(base)


def _none_last(value: Any) -> tuple[bool, Any]:
    return value is None, value
