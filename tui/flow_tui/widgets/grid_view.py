"""The grid as a widget: tasks × runs, a cell for each, under the names and headings that stay.

It draws line by line what its model holds, and only those lines anew that have changed. It reads
nothing: it posts what it wants, and whoever shows it answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.signal import Signal
from textual.strip import Strip

from flow.ops.grid_window import GridChanges, GridWindow
from flow.store.read.grid import InstanceStates
from flow.wording.grid import COLUMN
from flow.wording.looks import LOOKS
from flow_tui.grid.columns import Difference
from flow_tui.grid.model import Cell, GridModel, Wanted
from flow_tui.grid.rows import Kind, RowKey
from flow_tui.looks import style_of
from flow_tui.widgets.grid_heading import Heading, HeadingLine
from flow_tui.widgets.grid_lines import (
    AT_CURSOR,
    IN_RANGE,
    IN_ROW,
    MARKED,
    GridLines,
    Looks,
    Measures,
    quiet,
)

_ROOM_FOR_BARS: Final = 18
"""Lines of a grid that has durations above it."""


class GridView(ScrollView, can_focus=True):
    """Shows a `GridModel`, and moves its cursor."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "grid--name",
        "grid--group",
        "grid--faint",
        "grid--version",
        "grid--row",
        "grid--range",
        "grid--cursor",
    }
    DEFAULT_CSS = """
    GridView {
        overflow-x: auto;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        scrollbar-gutter: stable;
        background: $background;
        &:focus { background-tint: $foreground 0%; }
        & > .grid--name { color: $foreground; }
        & > .grid--group { color: $foreground; text-style: bold; }
        & > .grid--faint { color: $foreground 60%; }
        & > .grid--version { color: $accent; text-style: bold; }
        & > .grid--row { background: $foreground 14%; }
        & > .grid--range { background: $primary 40%; }
        & > .grid--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move(0, -1)", "Older run", show=False, id="grid.left"),
        Binding("right,l", "move(0, 1)", "Newer run", show=False, id="grid.right"),
        Binding("up,k", "move(-1, 0)", "Task above", show=False, id="grid.up"),
        Binding("down,j", "move(1, 0)", "Task below", show=False, id="grid.down"),
        Binding("shift+left", "extend(0, -1)", "Range left", show=False, id="grid.range_left"),
        Binding("shift+right", "extend(0, 1)", "Range right", show=False, id="grid.range_right"),
        Binding("shift+up", "extend(-1, 0)", "Range up", show=False, id="grid.range_up"),
        Binding("shift+down", "extend(1, 0)", "Range down", show=False, id="grid.range_down"),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="grid.page_up"),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False, id="grid.page_down"),
        Binding("home", "end_of_row(False)", "Oldest run", show=False, id="grid.oldest"),
        Binding("end", "end_of_row(True)", "Newest run", show=False, id="grid.newest"),
        Binding("g,ctrl+home", "end_of_column(False)", "First task", show=False, id="grid.first"),
        Binding("G,ctrl+end", "end_of_column(True)", "Last task", show=False, id="grid.last"),
    ]

    class _OfGrid(Message):
        """A message of a grid."""

        def __init__(self, grid: GridView) -> None:
            super().__init__()
            self.grid = grid

        @property
        def control(self) -> GridView:
            """The grid that sent it."""
            return self.grid

    class Opened(_OfGrid):
        """Somebody wants to see what is behind a cell."""

        def __init__(self, grid: GridView, cell: Cell) -> None:
            super().__init__(grid)
            self.cell = cell

    class MoreWanted(_OfGrid):
        """Older or newer runs are to be loaded; asked for once until they have come."""

        def __init__(self, grid: GridView, wanted: Wanted) -> None:
            super().__init__(grid)
            self.wanted = wanted

    class InstancesWanted(_OfGrid):
        """The instances of a mapped task are to be read."""

        def __init__(self, grid: GridView, task_id: str) -> None:
            super().__init__(grid)
            self.task_id = task_id

    @dataclass(slots=True)
    class _Drawn:
        """How all of it is drawn as long as model, size and colours stay."""

        lines: GridLines
        heading: Heading
        measures: Measures
        size: Size
        """Of the widget, with its scroll bar."""

    def __init__(
        self,
        dag_id: str,
        *,
        symbols: bool = True,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`symbols`: whether the terminal can show them; else states are letters."""
        super().__init__(id=id, classes=classes)
        self.model = GridModel(dag_id)
        self._symbols = symbols
        self._lines: GridLines | None = None
        self._drawn: GridView._Drawn | None = None
        self._headed: tuple[int, list[HeadingLine]] | None = None
        self._asked: Wanted | None = None
        self.pointed: Signal[GridView] = Signal(self, "pointed")
        """The cursor is at another cell, or what is marked has changed. Told at once, so that what
        is said about the cell is painted together with the cursor."""
        self._seen: dict[int, Strip] = {}
        """Lines as they were drawn last."""

    # ── what it shows ────────────────────────────────────────────────────────────────────────────

    def show(self, window: GridWindow) -> None:
        """Show the newest runs."""
        self.model.replace(window)
        self._asked = None
        self._anew()
        self._reveal()

    def prepend(self, window: GridWindow) -> None:
        """Take the older runs that were wanted; what is seen stays where it is."""
        self._shift(self.model.prepend(window))

    def append(self, window: GridWindow) -> None:
        """Take the newer runs that were wanted; what is seen stays where it is."""
        self._shift(-self.model.append(window))

    def take(self, changes: GridChanges) -> None:
        """Take what another look has found, and draw only that anew."""
        cell = self.model.cell
        difference = self.model.update(changes)
        if difference.moved:
            self._anew()
            if cell != self.model.cell:
                self._reveal()
        elif difference.runs or difference.tasks:
            self._redraw(difference)
        self.pointed.publish(self)

    def take_instances(self, task_id: str, found: Iterable[InstanceStates]) -> None:
        """Show the instances of a mapped task."""
        self.model.take_instances(task_id, found)
        self._anew()

    def give_up_loading(self) -> None:
        """What was wanted has not come; it is asked for again when the grid is moved."""
        self._asked = None

    def filter(self, text: str) -> None:
        """Show only tasks and groups with a text in their ids."""
        self.model.filter(text)
        self._anew()
        self._reveal()

    def go_to(self, cell: Cell) -> None:
        """Move the cursor there."""
        self.model.go_to(cell)
        self._anew()
        self._reveal()

    def restyle(self) -> None:
        """Take the colours of another palette or theme."""
        self._lines = None
        self._anew()

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────

    def action_move(self, rows: int, columns: int) -> None:
        """Move the cursor."""
        self._go(self.model.row + rows, self.model.column + columns)

    def action_extend(self, rows: int, columns: int) -> None:
        """Move the cursor, and let a range follow it."""
        self.model.begin_range()
        self.action_move(rows, columns)

    def action_page(self, pages: int) -> None:
        """Move the cursor by as many rows as are seen."""
        self.action_move(pages * max(1, self._body_height - 1), 0)

    def action_end_of_row(self, newest: bool) -> None:
        """Move the cursor to the newest or the oldest run that is loaded."""
        self._go(self.model.row, self.model.width - 1 if newest else 0)

    def action_end_of_column(self, last: bool) -> None:
        """Move the cursor to the last or the first row."""
        self._go(len(self.model.rows) - 1 if last else 0, self.model.column)

    # ── the selection ────────────────────────────────────────────────────────────────────────────

    def toggle(self) -> None:
        """Mark the cell under the cursor, or the range; marked ones are unmarked."""
        self.model.mark()
        self._pointed()

    def begin_range(self) -> None:
        """Begin a range; give it up if there is one."""
        if self.model.anchor is None:
            self.model.begin_range()
        else:
            self.model.unmark()
        self._pointed()

    def select_none(self) -> bool:
        """Give up the range, else the marks; whether there was anything to give up."""
        had = self.model.unmark()
        if had:
            self._pointed()
        return had

    # ── folding and opening ──────────────────────────────────────────────────────────────────────

    def fold(self) -> None:
        """Fold or unfold the group under the cursor, show the instances of a task or hide them."""
        wanted = self.model.toggle()
        if wanted is not None:
            self.post_message(self.InstancesWanted(self, wanted))
            return
        self._anew()
        self._reveal()

    def fold_all(self) -> None:
        """Fold all groups, or unfold them all."""
        self.model.toggle_all()
        self._anew()
        self._reveal()

    def open(self) -> None:
        """Open the cell under the cursor; what has rows in it shows or hides them instead."""
        row, cell = self.model.current_row, self.model.cell
        if row is not None and row.open is not None:
            self.fold()
        elif cell is not None:
            self.post_message(self.Opened(self, cell))

    # ── mouse ────────────────────────────────────────────────────────────────────────────────────

    def on_click(self, event: events.Click) -> None:
        """Move the cursor; a second click opens; with shift a range; on a sign it folds."""
        drawn, offset = self._drawn, event.get_content_offset(self)
        if drawn is None or offset is None:
            return
        row = offset.y - drawn.heading.height + self.scroll_offset.y
        left = offset.x - drawn.measures.names - 1
        column = self._first + left // COLUMN if left >= 0 else self.model.column
        if row >= len(self.model.rows) or column >= self.model.width > 0:
            return
        if event.shift:
            self.model.begin_range()
        self._go(row if offset.y >= drawn.heading.height else self.model.row, column)
        on_sign = left < 0 and self._on_sign(offset.x)
        if on_sign and offset.y >= drawn.heading.height:
            self.fold()
        elif event.chain == 2 and not on_sign:
            self.open()

    def _on_sign(self, x: int) -> bool:
        row = self.model.current_row
        return row is not None and row.open is not None and x <= 2 * row.depth + 1

    # ── drawing ──────────────────────────────────────────────────────────────────────────────────

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines as they are seen, those that have not changed as they were.

        A grid has neither border nor padding nor links, which is what a widget's own way adds to
        each line; a strip that stays the same object is not cut and encoded again either.
        """
        filters, ground = self.get_line_filters(), self.background_colors[1]
        lines = []
        for y in crop.line_range:
            strip = self._seen.get(y)
            if strip is None:
                strip = self._seen[y] = self.render_line(y)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, ground)
            lines.append(strip)
        if crop.column_span == (0, self.size.width):
            return lines
        return [strip.crop(*crop.column_span) for strip in lines]

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Draw anew, all or some regions."""
        if not regions:
            self._seen.clear()
        for region in regions:
            for y in region.line_range:
                self._seen.pop(y, None)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_line(self, y: int) -> Strip:
        """A line as it is seen."""
        drawn = self._drawn
        if drawn is None:
            return Strip.blank(self.size.width)
        width = drawn.size.width
        if y < drawn.heading.height:
            current = self.model.column - self._first
            return drawn.lines.heading(self._heading_line(y), current, drawn.measures, width)
        index = y - drawn.heading.height + self.scroll_offset.y
        if index >= len(self.model.rows):
            return drawn.lines.blank(width)
        row = self.model.rows[index]
        codes = self.model.columns.codes(row.key, self._first, drawn.measures.shown)
        flags = self._flags(index, row.key, len(codes))
        return drawn.lines.row(self.model, row, codes, flags, drawn.measures, width)

    def on_resize(self, _: events.Resize) -> None:
        """Measure anew."""
        self._anew()
        self._reveal()

    def notify_style_update(self) -> None:
        """Another theme: take its colours."""
        super().notify_style_update()
        self.restyle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw the rows anew; the scroll bar only where its thumb is seen to move."""
        height = self.size.height
        step = max(1, self.virtual_size.height // max(1, height))
        at_an_end = new_value in (0, self.max_scroll_y)
        position = new_value if at_an_end else new_value // step * step
        if self.show_vertical_scrollbar and self.vertical_scrollbar.position != position:
            self.vertical_scrollbar.position = position
        above = self._drawn.heading.height if self._drawn else 0
        if round(old_value) != round(new_value):
            self.refresh(Region(0, above, self.size.width, max(0, height - above)))

    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        """Load what comes into sight."""
        super().watch_scroll_x(old_value, new_value)
        self._ask()

    def _heading_line(self, y: int) -> HeadingLine:
        assert self._drawn is not None
        first = self._first
        if self._headed is None or self._headed[0] != first:
            self._headed = (first, self._drawn.heading.lines(first, self._drawn.measures.shown))
        return self._headed[1][y]

    def _flags(self, index: int, key: RowKey, count: int) -> bytes:
        """What is to be seen of cursor, range and marks in the cells of a row; b"": nothing."""
        model, first = self.model, self._first
        bounds = model.bounds()
        in_row = IN_ROW if index == model.row else 0
        if not in_row and not model.marks and (bounds is None or index not in bounds[0]):
            return b""
        flags = [in_row] * count
        for place, column in enumerate(model.columns.columns[first : first + count]):
            if bounds is not None and index in bounds[0] and first + place in bounds[1]:
                flags[place] |= IN_RANGE
            if model.marks and Cell(key, column.run.run_key) in model.marks:
                flags[place] |= MARKED
            if in_row and first + place == model.column:
                flags[place] |= AT_CURSOR
        return bytes(flags) if any(flags) else b""

    @property
    def _first(self) -> int:
        """The first column that is seen."""
        return round(self.scroll_x / COLUMN)

    @property
    def _body_height(self) -> int:
        return max(1, self._drawn.size.height - self._drawn.heading.height) if self._drawn else 1

    def _anew(self) -> None:
        """Measure and draw everything anew."""
        size = self.scrollable_content_region.size
        if not size:
            return
        lines = self._lines = self._lines or self._made_lines()
        heading = self._made_heading(lines)
        measures = lines.measure(self.model, size.width)
        self._drawn = self._Drawn(lines, heading, measures, self.size)
        self._headed = None
        hidden = max(0, self.model.width - measures.shown)
        self.virtual_size = Size(
            size.width + hidden * COLUMN, heading.height + len(self.model.rows)
        )
        self.refresh()

    def _made_lines(self) -> GridLines:
        ground = self.background_colors[1]
        styles = {"ground": Style(bgcolor=ground.rich_color)}
        for name in Looks._fields[1:]:
            style = self.get_component_rich_style(f"grid--{name}")
            over = ground + self.get_component_styles(f"grid--{name}").background
            # What is laid under a cell keeps the state's colour.
            color = None if name in ("row", "range") else style.color
            bgcolor = None if over == ground else over.rich_color
            styles[name] = Style(color=color, bgcolor=bgcolor, bold=style.bold)
        return GridLines(
            {state: style_of(state) for state in LOOKS}, Looks(**styles), symbols=self._symbols
        )

    def _made_heading(self, lines: GridLines) -> Heading:
        return Heading(
            self.model.columns,
            sign=lines.sign,
            quiet=quiet,
            plain=lines.looks.faint,
            accent=lines.looks.version,
            symbols=self._symbols,
            with_bars=self.scrollable_content_region.height >= _ROOM_FOR_BARS,
        )

    def _redraw(self, difference: Difference) -> None:
        """Draw anew what another look has changed."""
        assert self._drawn is not None
        if difference.runs:
            self._drawn.heading = self._made_heading(self._drawn.lines)
            self._headed = None
            self.refresh(Region(0, 0, self.size.width, self._drawn.heading.height))
        for run_key, tasks in difference.tasks.items():
            column = self.model.columns.index(run_key)
            for task_id in tasks:
                key = RowKey(Kind.TASK, task_id)
                for row in (key, *self.model.tree.above.get(key, ())):
                    index = self.model.row_of(row)
                    if index is not None and column is not None:
                        self._refresh_cell(index, column)

    def _refresh_cell(self, row: int, column: int) -> None:
        assert self._drawn is not None
        place = column - self._first
        if 0 <= place < self._drawn.measures.shown:
            left = self._drawn.measures.names + 1 + place * COLUMN
            self.refresh(Region(left, self._line_of(row), COLUMN, 1))

    def _refresh_row(self, row: int) -> None:
        self.refresh(Region(0, self._line_of(row), self.size.width, 1))

    def _refresh_above(self, column: int) -> None:
        """What stands above a column."""
        assert self._drawn is not None
        left = self._drawn.measures.names + 1 + (column - self._first) * COLUMN
        self.refresh(Region(left, 0, COLUMN, self._drawn.heading.height))

    def _line_of(self, row: int) -> int:
        assert self._drawn is not None
        return self._drawn.heading.height + row - self.scroll_offset.y

    # ── moving ───────────────────────────────────────────────────────────────────────────────────

    def _go(self, row: int, column: int) -> None:
        model = self.model
        before = (model.row, model.column)
        model.go(row, column)
        if before == (model.row, model.column) or self._drawn is None:
            return
        if model.anchor is not None:
            self.refresh()
        else:
            for index in {before[0], model.row}:
                self._refresh_row(index)
            if before[1] != model.column:
                self._refresh_above(before[1])
                self._refresh_above(model.column)
        self._reveal()
        self.pointed.publish(self)

    def _pointed(self) -> None:
        """What is marked has changed."""
        self.refresh()
        self.pointed.publish(self)

    def _reveal(self) -> None:
        """Scroll as little as shows the cursor."""
        if self._drawn is None:
            return
        model, shown, first = self.model, self._drawn.measures.shown, self._first
        left = min(model.column, max(first, model.column - shown + 1))
        top, height = self.scroll_offset.y, self._body_height
        above = min(model.row, max(top, model.row - height + 1))
        if (left, above) != (first, top):
            self.scroll_to(left * COLUMN, above, animate=False, force=True)
        self._ask()

    def _shift(self, columns: int) -> None:
        """Columns came on the left, or went: what is seen stays where it is."""
        self._asked = None
        first = self._first + columns
        self._anew()
        self.scroll_to(x=max(0, first) * COLUMN, animate=False, force=True)
        self._ask()
        self.pointed.publish(self)

    def _ask(self) -> None:
        """Ask for more where the end of what is loaded comes near."""
        if self._drawn is None or self._asked is not None or not self.model.width:
            return
        wanted = self.model.wanted(self._first, self._drawn.measures.shown)
        if wanted is not None:
            self._asked = wanted
            self.post_message(self.MoreWanted(self, wanted))
