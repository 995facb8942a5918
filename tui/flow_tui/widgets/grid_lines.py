"""The lines of a grid as strips: the names of its rows, its cells, and what stands above them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from flow.ops.grid_window import state_of
from flow.wording.cells import printable, width_of
from flow.wording.grid import COLUMN, GONE
from flow.wording.layout import padded, shortened
from flow.wording.looks import LOOKS
from flow_tui.grid.model import GridModel
from flow_tui.grid.rows import Kind, Row, RowKey
from flow_tui.widgets.grid_heading import HeadingLine

IN_ROW: Final = 1
"""Flags of a cell: it is in the cursor's row, in the range, marked, under the cursor."""
IN_RANGE: Final = 2
MARKED: Final = 4
AT_CURSOR: Final = 8
QUIET: Final = 16
"""It only says again what stands in the rows below: of a group that is open."""

INDENT: Final = "  "
_SHORTEST_NAME: Final = 20
_SHARE_OF_NAMES: Final = 3
"""Names take at most one part in so many of the width."""
_NARROWEST: Final = len("12 h 59 min")
"""What the headings need."""
_STANDING_OUT: Final = ("failed",)
"""States that are found at a glance in a thousand cells."""
_KEPT: Final = 4_096
"""Lines that are remembered."""


class Looks(NamedTuple):
    """The styles of all that is not a state."""

    ground: Style
    """Under everything."""
    name: Style
    group: Style
    faint: Style
    """Instances, what is gone, and headings."""
    version: Style
    row: Style
    """Laid over the cursor's row."""
    range: Style
    cursor: Style


class Measures(NamedTuple):
    """The width of the names, and how many columns have room beside them."""

    names: int
    shown: int


class GridLines:
    """Draws lines and remembers them. What is remembered is found by all that it depends on."""

    def __init__(self, styles: Mapping[str, str], looks: Looks, *, symbols: bool) -> None:
        """`styles`: the rich style of each state. Without `symbols` states are letters."""
        self.symbols = symbols
        self.looks = looks
        self._styles = {state: Style.parse(style) for state, style in styles.items()}
        for state in _STANDING_OUT:
            self._styles[state] += Style(reverse=True)
        self._cells: dict[tuple[int, int], tuple[str, Style]] = {}
        self._lines: dict[object, Strip] = {}

    # ── measuring ────────────────────────────────────────────────────────────────────────────────

    def measure(self, model: GridModel, width: int) -> Measures:
        """What fits."""
        widest = max((width_of(self.name(model, row)) for row in model.rows), default=0)
        names = min(max(widest, _NARROWEST), max(_SHORTEST_NAME, width // _SHARE_OF_NAMES))
        return Measures(names, max(1, (width - names - 1) // COLUMN))

    def name(self, model: GridModel, row: Row) -> str:
        """The name of a row with all that stands before it: indents, and a sign where it opens."""
        signs = ("▾ ", "▸ ") if self.symbols else ("v ", "> ")
        sign = INDENT if row.open is None else signs[0] if row.open else signs[1]
        gone = GONE if row.gone and row.key.kind is not Kind.INSTANCE else ""
        return INDENT * row.depth + sign + printable(short_name(model, row.key)) + gone

    # ── drawing ──────────────────────────────────────────────────────────────────────────────────

    def row(
        self, model: GridModel, row: Row, codes: bytes, flags: bytes, measures: Measures, width: int
    ) -> Strip:
        """The line of a row: its name and its cells."""
        key = (row, codes, flags, measures.names, width)
        strip = self._lines.get(key)
        if strip is None:
            strip = self._remember(key, self._row(model, row, codes, flags, measures, width))
        return strip

    def heading(
        self, line: HeadingLine, current: int | None, measures: Measures, width: int
    ) -> Strip:
        """A line of what stands above the cells; `current` is the place of the cursor's column."""
        ground = self.looks.ground
        segments = [Segment(padded(line.name, measures.names) + " ", ground + self.looks.faint)]
        for index, piece in enumerate(line.cells):
            text, style = piece.text, ground + piece.style
            if index == current:
                text = piece.whole
                style = self.looks.cursor if line.names_run else self.looks.row + piece.style
            segments.append(Segment(f" {text:<{COLUMN - 1}}", style))
        return Strip(segments).simplify().adjust_cell_length(width, ground)

    def blank(self, width: int) -> Strip:
        """A line with nothing in it."""
        return Strip.blank(width, self.looks.ground)

    def _row(
        self, model: GridModel, row: Row, codes: bytes, flags: bytes, measures: Measures, width: int
    ) -> Strip:
        name = shortened(self.name(model, row), measures.names, symbols=self.symbols)
        style = self._style_of(row)
        ground = self.looks.row if flags and flags[0] & IN_ROW else self.looks.ground
        more = QUIET if row.key.kind is Kind.GROUP and row.open else 0
        segments = [
            Segment(padded(name, measures.names) + " ", ground + style),
            *self._of_cells(codes, bytes(flag | more for flag in flags or bytes(len(codes)))),
        ]
        return Strip(segments).adjust_cell_length(width, ground)

    def _style_of(self, row: Row) -> Style:
        if row.gone or row.key.kind is Kind.INSTANCE:
            return self.looks.faint
        return self.looks.group if row.key.kind is Kind.GROUP else self.looks.name

    def _of_cells(self, codes: bytes, flags: bytes) -> list[Segment]:
        """Cells that look the same are one segment."""
        pairs = zip(codes, flags, strict=True)
        drawn = []
        for pair, same in groupby(pairs):
            text, style = self._cell(*pair)
            drawn.append(Segment(text * len(list(same)), style))
        return drawn

    def _cell(self, code: int, flags: int) -> tuple[str, Style]:
        found = self._cells.get((code, flags))
        if found is None:
            state = state_of(code)
            sign, style = self.sign(state.value) if state else (" ", Style.null())
            under = self.looks.row if flags & IN_ROW else self.looks.ground
            if flags & (IN_RANGE | MARKED):
                under = self.looks.range
            # The cursor looks the same wherever it is, on what stands out too.
            over = self.looks.cursor + Style(reverse=False) if flags & AT_CURSOR else Style.null()
            if flags & QUIET:
                style = quiet(style)
            found = (_framed(sign, flags), under + style + over)
            self._cells[code, flags] = found
        return found

    def sign(self, state: str) -> tuple[str, Style]:
        """The sign of a state and its style."""
        look = LOOKS[state]
        return look.symbol if self.symbols else look.letter, self._styles[state]

    def _remember(self, key: object, strip: Strip) -> Strip:
        if len(self._lines) >= _KEPT:
            self._lines.clear()
        self._lines[key] = strip
        return strip


def short_name(model: GridModel, key: RowKey) -> str:
    """An id without that of the group that the row stands in; an instance by its place alone."""
    if key.kind is Kind.INSTANCE:
        return "".join(f"[{index}]" for index in key.map_path)
    above = model.tree.above.get(key, ())
    return key.id.removeprefix(f"{above[-1].id}.") if above else key.id


def quiet(style: Style) -> Style:
    """The colour by which a state is known, without what makes its sign stand out."""
    return Style(color=style.color, dim=style.dim)


def _framed(sign: str, flags: int) -> str:
    """A cell's text: a cursor and marks are seen without colours too."""
    if flags & AT_CURSOR:
        return f"[{sign}]"
    return f"{'*' if flags & MARKED else '+' if flags & IN_RANGE else ' '}{sign} "
