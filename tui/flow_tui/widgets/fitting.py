"""Texts with a style, made to fit into a width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flow.wording.cells import printable, width_of


class Piece(NamedTuple):
    """A text and its rich style."""

    text: str
    style: str = ""


Cell = str | Piece | Sequence[Piece]


def plain(cell: Cell) -> str:
    """The text of a cell."""
    if isinstance(cell, str):
        return printable(cell)
    if isinstance(cell, Piece):
        return printable(cell.text)
    return "".join(printable(piece.text) for piece in cell)


def without_end(text: str, width: int) -> str:
    """A text of at most `width` columns; what does not fit is left out at its end."""
    if width_of(text) <= width:
        return text
    while text and width_of(text) >= width:
        text = text[:-1]
    return f"{text}…" if width else ""
