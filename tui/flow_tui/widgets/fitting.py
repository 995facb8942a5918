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


def shortened(text: str, width: int) -> str:
    """A text of at most `width` columns; what does not fit is left out in its middle.

    Ids mostly differ at their ends.
    """
    if width_of(text) <= width:
        return text
    kept = max(2, width - 1)
    while kept > 2 and width_of(_without_middle(text, kept)) > width:
        kept -= 1  # some of its characters take two columns
    return _without_middle(text, kept)


def without_end(text: str, width: int) -> str:
    """A text of at most `width` columns; what does not fit is left out at its end."""
    if width_of(text) <= width:
        return text
    while text and width_of(text) >= width:
        text = text[:-1]
    return f"{text}…" if width else ""


def _without_middle(text: str, kept: int) -> str:
    tail = kept // 2
    return f"{text[: kept - tail]}…{text[-tail:]}"


def aligned(text: str, room: int, right: bool) -> str:
    """A text with spaces up to a width."""
    space = " " * (room - width_of(text))
    return space + text if right else text + space
