"""Hashes follow the content, and are read again only when they have to be."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from flow.process.code import code_hash, content_hash
from flow.process.plain_file import signature
from flow.roles.parse import fingerprints
from flow.roles.parse.fingerprints import Fingerprints

LONG_AGO = 1_700_000_000


def test_the_hash_of_a_file_without_modules_is_that_of_its_content(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    assert Fingerprints().code(str(file), {}) == content_hash(str(file))


def test_modules_count_by_name_and_content_not_by_place() -> None:
    both = code_hash("f", {"a": "1", "b": "2"})
    assert both == code_hash("f", {"b": "2", "a": "1"})
    others = [
        code_hash("f", {"a": "2", "b": "1"}),
        code_hash("f", {"a": "1"}),
        code_hash("f", {}),
        code_hash("g", {"a": "1", "b": "2"}),
    ]
    assert len({both, *others}) == 5


def test_a_change_is_noticed_even_of_equal_size_and_within_one_tick(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    memory = Fingerprints()
    hashes = set()
    for digit in range(10):
        file.write_text(f"x = {digit}\n")
        hashes.add(memory.content(str(file)))
    assert len(hashes) == 10


def test_a_file_at_rest_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    # Its times are fresh now; seen from an hour later they are not.
    later = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(fingerprints.time, "time_ns", lambda: later)
    reads = []

    def reading(path: str) -> str:
        reads.append(path)
        return content_hash(path)

    monkeypatch.setattr(fingerprints, "content_hash", reading)
    memory = Fingerprints()
    assert memory.content(str(file)) == memory.content(str(file))
    assert reads == [str(file)]
    os.utime(file, (LONG_AGO, LONG_AGO))
    memory.content(str(file))
    assert reads == [str(file)] * 2
    memory.keep(set())
    memory.content(str(file))
    assert reads == [str(file)] * 3


def test_a_missing_file_has_a_fingerprint_too(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    memory = Fingerprints()
    assert memory.content(str(file)) == "unreadable:ENOENT"
    file.write_text("x = 1\n")
    assert memory.content(str(file)) == content_hash(str(file))


def test_only_a_change_counts_as_one(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    memory = Fingerprints()
    before = time.monotonic()
    memory.content(str(file))
    assert not memory.changed_since([str(file)], before)
    file.write_text("x = 2\n")
    memory.content(str(file))
    assert memory.changed_since([str(file)], before)
    assert not memory.changed_since([str(file)], time.monotonic())


def test_a_change_back_to_what_it_was_counts_as_one(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    memory = Fingerprints()
    memory.content(str(file))
    before = time.monotonic()
    other = tmp_path / "b.py"
    other.write_text("x = 1\n")
    other.rename(file)
    memory.content(str(file))
    assert memory.changed_since([str(file)], before)


def test_a_clock_that_is_ahead_for_ever_does_not_have_a_file_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    far = time.time() + 1e6
    os.utime(file, (far, far))
    reads = []
    monkeypatch.setattr(fingerprints, "content_hash", lambda path: reads.append(path) or "hash")
    memory = Fingerprints()
    now = time.monotonic()
    for second in range(6):
        monkeypatch.setattr(fingerprints.time, "monotonic", lambda second=second: now + second)
        memory.content(str(file))
    assert len(reads) == 3


def test_what_a_child_saw_is_compared_with_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    seen = {str(file): signature(str(file))}
    memory = Fingerprints()
    memory.content(str(file))
    assert not memory.differ(seen)
    file.write_text("x = 22\n")
    memory.content(str(file))
    assert memory.differ(seen)


def test_what_only_a_child_may_read_is_no_difference_but_what_is_gone_or_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    seen = {str(file): signature(str(file))}
    memory = Fingerprints()
    with monkeypatch.context() as patch:
        patch.setattr(fingerprints, "content_hash", refuse)
        assert memory.content(str(file)) == "unreadable:EACCES"
        assert not memory.differ(seen)
    file.unlink()
    memory.content(str(file))
    assert memory.differ(seen)
    file.mkdir()
    memory.content(str(file))
    assert memory.differ(seen)
