"""Memory that is cheap to share with forked children.

After a fork the first write to a page copies it, in a child for 3 to 5 µs. Python gives memory for
new objects out of pools, and out of those first that have room left: holes of what was freed
before, scattered over pages that hold other things. What fills the holes before the fork lets
every child put its own objects side by side into pools of its own.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Final

_POOL: Final = 16 * 1024
"""Bytes of a pool (pymalloc), which begins at a multiple of it …"""
_HEADER: Final = 48
"""… with that much about itself."""
_SIZES: Final = range(48, 513, 16)
"""Sizes of the blocks that a pool may be divided into; smaller ones hold no bytes object."""
_EMPTY: Final = sys.getsizeof(b"")
_MOST: Final = 256 * 1024
"""Bytes for one size: more holes than that are left, and it ends where Python has no such pools."""

_ballast: list[bytes] = []


def settle() -> None:
    """Keep children from writing to shared pages: throw garbage away, fill holes, freeze the rest.

    To be called once before the first fork, when all is loaded that children use.
    """
    gc.collect()
    for size in _SIZES:
        _ballast.extend(_fill(size))
    # The collector writes to what it looks at.
    gc.freeze()


def _fill(size: int) -> Iterator[bytes]:
    """Objects of `size` bytes for all holes of that size, and for all blocks of one new pool."""
    blocks = (_POOL - _HEADER) // size
    in_row, last = 0, 0
    for _ in range(_MOST // size):
        block = bytes(size - _EMPTY)
        yield block
        address = id(block)
        if address % _POOL == _HEADER:
            in_row = 1
        elif in_row:
            in_row = in_row + 1 if address == last + size else 0
        last = address
        if in_row == blocks:
            return
