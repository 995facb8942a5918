"""How states look in this session: their symbols, and their colours in the palette of the user."""

from __future__ import annotations

from flow.wording.looks import LOOKS
from flow.wording.looks import style_of as style_of_word
from flow_tui.themes import PALETTES
from flow_tui.widgets.fitting import Piece

_palette = "default"


def use_palette(name: str) -> None:
    """Take the colours of a palette from now on."""
    global _palette
    _palette = name


def mark_of(state: str) -> str:
    """The symbol of a state."""
    look = LOOKS.get(state)
    return look.symbol if look else "·"


def word_of(state: str) -> Piece:
    """The symbol of a state, and its word."""
    return Piece(f"{mark_of(state)} {state}", style_of(state))


def style_of(state: str) -> str:
    """The rich style of a state's word or symbol."""
    return PALETTES[_palette].get(state, style_of_word(state))
