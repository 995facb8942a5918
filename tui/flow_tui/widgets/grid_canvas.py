"""The grid as it is drawn: only those lines anew that have changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Self

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from flow.wording.grid import COLUMN
from flow.wording.looks import LOOKS
from flow_tui.grid.columns import Difference
from flow_tui.grid.model import Cell, GridModel
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


class GridCanvas(ScrollView, can_focus=True):
    """Draws a `GridModel` under names and headings that stay."""

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
    GridCanvas {
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
        &:ansi > .grid--range { background: $background; }
        & > .grid--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
        &:ansi > .grid--cursor { background: ansi_white; color: ansi_black; }
    }
    """

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
        self._drawn: GridCanvas._Drawn | None = None
        self._headed: tuple[int, list[HeadingLine]] | None = None
        self._seen: dict[int, Strip] = {}
        """Lines as they were drawn last."""

    def restyle(self) -> None:
        """Take the colours of another palette or theme."""
        self._lines = None
        self._anew()

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
            return Strip.blank(self.size.width, self.rich_style)
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
        self.came_into_sight()

    def came_into_sight(self) -> None:
        """Other columns are seen than before."""

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
        self.came_into_sight()
