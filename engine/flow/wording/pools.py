"""Pools, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow.wording.cells import counted

if TYPE_CHECKING:
    from flow.ops.pools import Pool


def room(pool: Pool) -> str:
    """How many slots it has, and how many of them are open."""
    if pool.open is None:
        return "no limit"
    return f"{pool.open} of {counted(pool.slots, 'slot')} open"


def deferred(pool: Pool) -> str:
    """What deferred tasks do with their slots."""
    return "keep their slots" if pool.include_deferred else "give their slots back"
