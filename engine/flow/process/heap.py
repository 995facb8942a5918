"""Memory that is cheap to share with forked children.

After a fork the first write to a page copies it, in a child for 3 to 5 µs. Python gives memory for
new objects out of pools, and out of those first that have room left: holes of what was freed
before, scattered over pages that hold other things. The C library does the same with what is too
large for a pool. What fills the holes before the fork lets every child put its own objects side by
side.

A fork also copies the entry of every page, and the end of a child drops it again: a third of what a
short child costs. The kernel does so for many pages at once where they belong to one huge page, be
that mapped whole or in parts.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

_POOL: Final = 16 * 1024
"""Bytes of a pool (pymalloc), which begins at a multiple of it …"""
_HEADER: Final = 48
"""… with that much about itself."""
_ARENA: Final = 1024 * 1024
"""Bytes that pools are cut from, which lie anywhere …"""
_LOADED: Final = 11
"""… and how many arenas the modules of a zygote fill."""
_SIZES: Final = range(48, 513, 16)
"""Sizes of the blocks that a pool may be divided into, for bytes objects …"""
_NUMBER: Final = 32
"""… and for numbers, which are smaller than those."""
_EMPTY: Final = sys.getsizeof(b"")
_MOST: Final = 256 * 1024
"""Bytes for one size: more holes than that are left, and it ends where Python has no such pools."""

_CHUNK: Final = 8
"""What the C library (glibc) adds to a block."""
_LARGEST: Final = 120_000
"""A little less than what glibc takes from its heap, and not from the system."""
_SMALLEST: Final = 32

_HUGE: Final = 2 * 1024 * 1024
"""Bytes of a huge page (x86-64, and arm64 with 4 KiB pages); where it is another, none is made."""
_MADV_COLLAPSE: Final = 25
"""Since Linux 6.1; no flag of the memory, so what is taken later from beside it stays small."""

_libc = ctypes.CDLL(None)
_IS_GLIBC: Final = hasattr(_libc, "gnu_get_libc_version")
"""Nothing is known of the heap of another one."""
_libc.malloc.argtypes, _libc.malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
_libc.free.argtypes, _libc.free.restype = (ctypes.c_void_p,), None
_libc.sbrk.argtypes, _libc.sbrk.restype = (ctypes.c_ssize_t,), ctypes.c_size_t
_libc.madvise.argtypes = (ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)

_ballast: list[object] = []


def reserve() -> None:
    """Let the memory of all that will be loaded lie in a row; to be called before it is.

    Arenas that are taken one by one as modules are loaded lie between the libraries of those.
    """
    size = _SIZES[-1]
    blocks = [bytes(size - _EMPTY) for _ in range(_LOADED * _ARENA // size)]
    # One block keeps an arena from being given back.
    _ballast.extend({id(block) // _ARENA: block for block in blocks}.values())


def settle() -> None:
    """Keep children from writing to shared pages: throw garbage away, fill holes, freeze the rest.

    To be called once before the first fork, when all is loaded that children use.
    """
    fill()
    # The collector writes to what it looks at.
    gc.freeze()
    _collapse()


def fill() -> None:
    """Throw garbage away and fill the holes, so that what is made from now on lies together."""
    gc.collect()
    _ballast.extend(_fill(_NUMBER, _new_number))
    for size in _SIZES:
        _ballast.extend(_fill(size, partial(bytes, size - _EMPTY)))
    if _IS_GLIBC:
        _fill_library()


def _collapse() -> None:
    """Turn memory of this process's own into huge pages, as far as the kernel can and will."""
    try:
        memory = list(_own_memory())
    except OSError:
        return  # whoever confines this process lets it not read that
    for start, end in memory:
        for huge in range(-(-start // _HUGE) * _HUGE, end - _HUGE + 1, _HUGE):
            _libc.madvise(huge, _HUGE, _MADV_COLLAPSE)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Bounds of the memory that holds objects: of no file, and not the stack."""
    with open("/proc/self/maps", encoding="utf-8") as maps:  # noqa: PTH123 - of one process
        for line in maps:
            bounds, access, *_, name = [*line.split(maxsplit=5), ""][:6]
            if access == "rw-p" and name.strip() in ("", "[heap]"):
                start, _, end = bounds.partition("-")
                yield int(start, 16), int(end, 16)


def _new_number() -> int:
    """An object of its own, as all large numbers are."""
    return int("1000000")


def _fill(size: int, new: Callable[[], object]) -> Iterator[object]:
    """New objects of `size` bytes for all holes of that size, and for all blocks of a new pool."""
    blocks = (_POOL - _HEADER) // size
    in_row, last = 0, 0
    for _ in range(_MOST // size):
        block = new()
        yield block
        address = id(block)
        if address % _POOL == _HEADER:
            in_row = 1
        elif in_row:
            in_row = in_row + 1 if address == last + size else 0
        last = address
        if in_row == blocks:
            return


def _fill_library() -> None:
    """Take all holes of the C library's heap for good, the large ones first.

    There is no hole of a size any more when a block of it lies beyond what was the heap.
    """
    _libc.malloc_trim(0)  # merges what is free, and leaves next to nothing of it at the end
    end = _libc.sbrk(0) - mmap.PAGESIZE
    size = _LARGEST
    while size >= _SMALLEST:
        block = _libc.malloc(size - _CHUNK)
        if block is None or block >= end:
            _libc.free(block)
            size -= max(16, size // 256 * 16)
    _libc.malloc_trim(0)
