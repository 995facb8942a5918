"""Drawing on a terminal, with rich. Imported only when stdout is one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flow.wording.layout import GAP, Cells, blocks, firm_widths, fits, without_spares

Styles = Mapping[str, Callable[[str], str] | None]
"""How the cells of a column look, by its heading."""


def draw_table(file: TextIO, whole: Cells, styles: Styles) -> list[str]:
    """Columns side by side, long texts folded; blocks where the terminal is too narrow for that.

    Returns the headings of columns that were left out.
    """
    console = console_on(file)
    cells, left_out = without_spares(whole, console.width)
    if not fits(cells, console.width):
        draw_lines(file, blocks(whole))
        return []
    table = Table(box=None, pad_edge=False, padding=(0, len(GAP), 0, 0), header_style="bold")
    kept = firm_widths(cells, console.width)
    for heading, right, width in zip(cells.headings, cells.right, kept, strict=True):
        justify: Literal["right", "left"] = "right" if right else "left"
        table.add_column(heading, justify=justify, overflow="fold", width=width)
    looks = [styles.get(heading) for heading in cells.headings]
    for row in cells.rows:
        table.add_row(
            *(
                Text(text, style=look(text) if look else "")
                for text, look in zip(row, looks, strict=True)
            )
        )
    console.print(table)
    return left_out


def draw_lines(file: TextIO, lines: Sequence[str]) -> None:
    """Lines of text, folded where the terminal ends."""
    console = console_on(file)
    for line in lines:
        console.print(Text(line, overflow="fold"))


def console_on(file: TextIO) -> Console:
    # With NO_COLOR rich would still write bold; without a colour system it writes only text.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(file=file, color_system=colours, highlight=False, markup=False, emoji=False)
