"""Filling the holes of the heap: what is made afterwards lies side by side, and there is an end."""

from __future__ import annotations

import subprocess
import sys
from typing import IO

import pytest

from flow.process import heap

SIZE = 480


def block() -> bytes:
    return bytes(SIZE - sys.getsizeof(b""))


def test_new_objects_lie_side_by_side_where_there_were_holes() -> None:
    old = [block() for _ in range(500)]
    del old[::3]
    ballast = list(heap._fill(SIZE, block))
    assert len(ballast) >= 500 // 3
    addresses = [id(one) for one in [block() for _ in range(16)]]
    assert addresses == list(range(addresses[0], addresses[0] + 16 * SIZE, SIZE))


def test_it_ends_where_there_are_no_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "_HEADER", 1)  # no block begins at such an address
    assert sum(map(sys.getsizeof, heap._fill(SIZE, block))) <= heap._MOST


@pytest.mark.skipif(not heap._IS_GLIBC, reason="the C library is not glibc")
def test_large_objects_lie_side_by_side_too() -> None:
    large = heap._SIZES.stop + 100
    old = [bytes(large) for _ in range(500)]
    del old[::3]
    heap._fill_library()
    # The first may get what was freed last: glibc keeps up to 7 blocks of a size at hand.
    addresses = [id(one) for one in [bytes(large) for _ in range(24)]][8:]
    distance = addresses[1] - addresses[0]
    assert addresses == [addresses[0] + number * distance for number in range(16)]
    assert large < distance < large + 100


def test_what_is_loaded_after_a_reservation_lies_in_it() -> None:
    code = """
import sys
from flow.process import heap
heap.reserve()
def mapped():
    return sum(end - start for start, end in heap._own_memory())
reserved = {id(one) // heap._ARENA for one in heap._ballast}
assert max(reserved) - min(reserved) < len(reserved) + 2, sorted(reserved)
before = mapped()
new = [bytes(size) for size in range(16, 480, 16) for _ in range(1000)]
assert sum(map(sys.getsizeof, new)) > 7 * heap._ARENA
assert mapped() - before < heap._ARENA
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_memory_that_holds_objects_is_found_and_made_huge_without_a_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = bytearray(b"flow" * (4 << 20))
    start, end = next(
        (start, end) for start, end in heap._own_memory() if start <= id(block()) < end
    )
    assert start < end
    asked: list[tuple[int, int]] = []
    libc = heap._libc

    class Listening:
        def madvise(self, address: int, size: int, advice: int) -> int:
            asked.append((address, address + size))
            return int(libc.madvise(address, size, advice))

    monkeypatch.setattr(heap, "_libc", Listening())
    bounds = list(heap._own_memory())
    monkeypatch.setattr(heap, "_own_memory", lambda: bounds)  # which may change at any time
    heap._collapse()
    assert asked
    assert all(start % heap._HUGE == 0 and end - start == heap._HUGE for start, end in asked)
    assert all(any(a <= start and end <= b for a, b in bounds) for start, end in asked)
    assert large == b"flow" * (4 << 20)


def test_where_the_map_may_not_be_read_memory_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(path: str, **more: str) -> IO[str]:
        raise PermissionError(path)

    monkeypatch.setattr("builtins.open", refuse)
    heap._collapse()
