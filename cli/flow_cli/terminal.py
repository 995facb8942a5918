"""Drawing on a terminal, with rich. Imported only when stdout is one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Literal, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flow.wording.layout import GAP, Cells, blocks, fits

Styles = Sequence[Callable[[str], str] | None]


def draw_table(file: TextIO, cells: Cells, styles: Styles) -> None:
    """Columns side by side, long texts folded; blocks where the terminal is too narrow for that."""
    console = console_on(file)
    if not fits(cells, console.width):
        draw_lines(file, blocks(cells))
        return
    table = Table(box=None, pad_edge=False, padding=(0, len(GAP), 0, 0), header_style="bold")
    for heading, right in zip(cells.headings, cells.right, strict=True):
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in cells.rows:
        table.add_row(
            *(
                Text(text, style=style(text) if style else "")
                for text, style in zip(row, styles, strict=True)
            )
        )
    console.print(table)


def draw_lines(file: TextIO, lines: Sequence[str]) -> None:
    """Lines of text, folded where the terminal ends."""
    console = console_on(file)
    for line in lines:
        console.print(Text(line, overflow="fold"))


def console_on(file: TextIO) -> Console:
    # With NO_COLOR rich would still write bold; without a colour system it writes only text.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(file=file, color_system=colours, highlight=False, markup=False, emoji=False)
