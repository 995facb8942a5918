"""What is read of an archive, and how often it is opened."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from flow.process import archive, plain_file
from flow.process.archive import modules_in, names_in


@pytest.fixture
def packed(tmp_path: Path) -> str:
    """An archive with two modules at its top, one of which is longer than its list may be."""
    path = tmp_path / "packed.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("b.py", b"#" * (archive._LONGEST_LIST + 2))
        made.writestr("a.py", b"x = 1\n")
        made.writestr("inner/c.py", b"y = 1\n")
    return str(path)


def test_the_modules_at_the_top_are_read_whatever_their_length(packed: str) -> None:
    assert names_in(packed) == ["a.py", "b.py"]
    found = modules_in(packed)
    assert {name: len(source) for name, source in found.items()} == {
        f"{packed}/a.py": 6,
        f"{packed}/b.py": archive._LONGEST_LIST + 2,
    }


def test_names_and_sources_are_of_one_and_the_same_plain_file(
    packed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two openings anything may take its place, a pipe as well."""
    opener = plain_file.opener

    def once(path: str, flags: int) -> int:
        descriptor = opener(path, flags)
        Path(path).unlink()
        os.mkfifo(path)
        return descriptor

    monkeypatch.setattr(plain_file, "opener", once)
    assert list(modules_in(packed)) == [f"{packed}/a.py", f"{packed}/b.py"]
