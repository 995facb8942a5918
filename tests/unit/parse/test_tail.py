"""The tail keeps the end of what is printed, whoever prints and however much."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flow.roles.parse.tail import KEPT, Tail


def test_nothing_printed_is_none(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "pipe")
    assert tail.take() is None
    tail.close()
    assert list(tmp_path.iterdir()) == []


def test_writers_come_and_go(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "pipe")
    for text in ("one\n", "two \udcff\n"):
        with open(tail.path, "a", errors="surrogateescape") as writer:
            writer.write(text)
        tail.read()
    assert tail.take() == "one\ntwo \\xff"


def test_more_than_is_kept_says_how_much_is_missing(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "pipe")
    descriptor = os.open(tail.path, os.O_WRONLY)
    for _ in range(20):
        os.write(descriptor, b"x" * 1000)
        tail.read()
    os.write(descriptor, b"the end")
    os.close(descriptor)
    said = tail.take()
    assert said is not None
    first, _, rest = said.partition("\n")
    assert first == f"… {20_007 - KEPT:,} bytes left out …"
    assert rest.endswith("xthe end")
    assert len(rest) == KEPT


def test_it_is_empty_for_the_next_one(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "pipe")
    tail.path.write_text("x" * (KEPT + 1))
    assert "1 bytes left out" in (tail.take() or "")
    assert tail.intact()
    tail.path.write_text("two")
    assert tail.take() == "two"
    tail.close()
    assert not tail.path.exists()


@pytest.mark.parametrize("deed", ["gone", "replaced", "closed to others"])
def test_it_is_not_used_again_when_somebody_has_changed_it(tmp_path: Path, deed: str) -> None:
    tail = Tail(tmp_path / "pipe")
    if deed == "closed to others":
        tail.path.chmod(0)
    else:
        tail.path.unlink()
    if deed == "replaced":
        os.mkfifo(tail.path, 0o600)
    assert not tail.intact()
    tail.close()
