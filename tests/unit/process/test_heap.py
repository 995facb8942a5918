"""Filling the holes of the heap: what is made afterwards lies side by side, and there is an end."""

from __future__ import annotations

import sys

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
