"""How a backfill is shown: its state, and how much of it is done."""

from __future__ import annotations

from typing import Final

from flow.store.read.backfills import Backfill
from flow_tui.widgets.table import Cell, Piece

_STATES: Final = {
    "running": ("▶", "bold blue"),
    "paused": ("‖", "yellow"),
    "cancelled": ("⊘", "red"),
    "done": ("✓", "green"),
}


def state(one: Backfill) -> Piece:
    """Its state, as a symbol and a word; the symbol tells whether runs of it have failed."""
    failed = one.state == "done" and one.failed > 0
    symbol, style = ("✗", "bold red") if failed else _STATES[one.state]
    return Piece(f"{symbol} {one.state}", style)


def bar(one: Backfill, width: int) -> Cell:
    """Its runs as shares of a bar: what succeeded, failed, runs, and waits.

    Whatever there is of a kind is seen.
    """
    kinds = (
        (one.done, "█", "green"),
        (one.failed, "▚", "bold red"),
        (one.running, "▒", "bold blue"),
        (one.waiting, "░", "dim"),
    )
    total = max(1, sum(number for number, _, _ in kinds))
    lengths = [max(1, round(number * width / total)) if number else 0 for number, _, _ in kinds]
    while sum(lengths) > width:
        lengths[lengths.index(max(lengths))] -= 1
    pieces = [
        Piece(symbol * length, style)
        for (_, symbol, style), length in zip(kinds, lengths, strict=True)
        if length
    ]
    return [*pieces, Piece("░" * (width - sum(lengths)), "dim")]
