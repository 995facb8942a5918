"""Drawings made of lines of styled pieces: what grids and graphs share.

On a terminal they are coloured and as wide as it is; in a pipe they are plain text with whole ids.
A symbol carries a state; its colour repeats it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TextIO

from flow.wording.cells import width_of
from flow.wording.looks import LOOKS, can_write_symbols
from flow_cli.output import Format, Output

LEGEND_GAP = "  "


class Piece(NamedTuple):
    """A text and its style."""

    text: str
    style: str = ""


Line = list[Piece]


class Sheet(NamedTuple):
    """What is drawn on. `width` in terminal columns; None: it has no end."""

    width: int | None
    symbols: bool
    """False: it can show letters only."""


Draw = Callable[[Sheet], Sequence[Line]]


def show(printer: Output, draw: Draw, document: dict[str, Any]) -> Sheet | None:
    """Print a drawing, or the JSON object that says the same; what was drawn on, if it was."""
    if printer.format is not Format.TEXT:
        printer.lines([], document)
        return None
    symbols = can_write_symbols(printer.out.encoding)
    if printer.out.isatty():
        return _on_terminal(printer.out, draw, symbols)
    sheet = Sheet(None, symbols)
    printer.out.writelines(plain_text(line) + "\n" for line in draw(sheet))
    return sheet


def plain_text(line: Line) -> str:
    """A line as plain text."""
    return "".join(piece.text for piece in line).rstrip()


def legend(seen: set[str], sheet: Sheet) -> list[Line]:
    """What the symbols of states mean, each together with its word on one line."""
    entries = []
    for state, look in LOOKS.items():
        if state in seen:
            mark = look.symbol if sheet.symbols else look.letter
            entries.append([Piece(mark, look.style), Piece(f" {state}")])
    return flowing(entries, sheet.width)


def flowing(entries: Sequence[Line], width: int | None) -> list[Line]:
    """Entries side by side, on as many lines as they need; one is never broken."""
    drawn: list[Line] = []
    used = 0
    for entry in entries:
        length = width_of(plain_text(entry))
        if drawn and (width is None or used + len(LEGEND_GAP) + length <= width):
            drawn[-1] += [Piece(LEGEND_GAP), *entry]
            used += len(LEGEND_GAP) + length
        else:
            drawn.append(list(entry))
            used = length
    return drawn


def _on_terminal(out: TextIO, draw: Draw, symbols: bool) -> Sheet:
    from rich.text import Text

    from flow_cli.terminal import console_on

    console = console_on(out)
    sheet = Sheet(console.width, symbols)
    for line in draw(sheet):
        pieces = ((piece.text, piece.style) for piece in line)
        console.print(Text.assemble(*pieces, overflow="fold"))
    return sheet
