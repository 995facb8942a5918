"""What a tree of files comes to: what counts, what does not, and what is never read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from flow.process.file_tree import measure


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    (top / "in").mkdir(parents=True)
    (top / "in" / "a").write_text("one")
    (top / "link").symlink_to("nowhere")
    os.mkfifo(top / "pipe")
    return top


def digest(path: Path) -> str:
    figures = measure(path)
    assert figures is not None
    return figures.digest


def test_files_links_and_pipes_are_counted_and_bytes_are_those_of_files(tree: Path) -> None:
    figures = measure(tree)
    assert figures is not None
    assert (figures.count, figures.bytes) == (3, 3)


def test_nothing_is_there(tmp_path: Path) -> None:
    assert measure(tmp_path / "nowhere") is None


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda top: (top / "in" / "a").write_text("two"),
    "name": lambda top: (top / "in" / "a").rename(top / "in" / "b"),
    "place": lambda top: (top / "in" / "a").rename(top / "a"),
    "target": lambda top: ((top / "link").unlink(), (top / "link").symlink_to("elsewhere")),
    "kind": lambda top: ((top / "link").unlink(), (top / "link").write_text("nowhere")),
    "folder": lambda top: (top / "empty").mkdir(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_counts(tree: Path, change: str) -> None:
    before = digest(tree)
    CHANGES[change](tree)
    assert digest(tree) != before


def test_times_and_modes_do_not_count_and_neither_does_the_path(tree: Path) -> None:
    before = digest(tree)
    os.utime(tree / "in" / "a", (1, 1))
    (tree / "in" / "a").chmod(0o600)
    moved = tree.rename(tree.parent / "moved")
    assert digest(moved) == before


def test_the_path_itself_is_followed(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(tree)
    assert measure(tmp_path / "latest") == measure(tree)
    assert digest(tree / "in" / "a") != digest(tree / "in")
