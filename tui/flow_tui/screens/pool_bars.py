"""How full pools are, as bars and in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flow.ops.status import Pool
from flow_tui.widgets.table import Cell, Piece

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"


def fullness(pool: Pool) -> tuple[float, int]:
    """Where a pool stands among others: by its share of used slots, then by what waits."""
    share = 0.0 if pool.open is None else 1 - pool.open / max(1, pool.slots)
    return share, pool.scheduled + pool.queued


def bar(pool: Pool, width: int) -> Sequence[Piece]:
    """Slots in use against all of them; a pool without a limit has no bar."""
    if pool.open is None:
        return [Piece("no limit".ljust(width), "dim")]
    used = pool.slots - pool.open
    share = used / pool.slots if pool.slots else 1.0
    eighths = round(share * width * 8)
    if used and not eighths:
        eighths = 1  # whatever is in use is seen
    whole, part = divmod(min(eighths, width * 8), 8)
    text = "█" * whole + (_EIGHTHS[part] if part else "")
    style = "red" if not pool.open else "yellow" if share >= 0.8 else "green"
    return [Piece(text, style), Piece("░" * (width - len(text)), "dim")]


def numbers(pool: Pool) -> Cell:
    """Slots in use of all, and what waits for some."""
    used = pool.running + pool.queued if pool.open is None else pool.slots - pool.open
    text = f"{used}" if pool.open is None else f"{used}/{pool.slots}"
    return [Piece(text), Piece(f"  {pool.scheduled} wait", "cyan")] if pool.scheduled else text
