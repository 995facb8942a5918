"""Compiled DAG files: what one try leaves, others run, and nobody can change it meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from flow.process import compiled
from flow.process.compiled import CodeMissing, CompiledFiles

FILE = "/dags/sales.py"
SOURCE = b"answer = 42\n"


@pytest.fixture
def files() -> Iterator[CompiledFiles]:
    kept = CompiledFiles()
    yield kept
    kept.close()


def a_try(memory: int | None, source: bytes = SOURCE, file: str = FILE) -> compiled.Compiled:
    """What a child does, which has descriptors of its own."""
    if memory is not None:
        compiled.offer(os.dup(memory))
    return compiled.compiled(file, source)


def answer(made: compiled.Compiled) -> object:
    space: dict[str, object] = {}
    exec(made.code, space)
    return space["answer"]


def memory_with_code(files: CompiledFiles) -> int:
    """That of a third try, which finds what the second has left."""
    assert files.memory_for(FILE, 0.0) is None
    a_try(files.memory_for(FILE, 1.0))
    memory = files.memory_for(FILE, 2.0)
    assert memory is not None
    return memory


def test_a_later_try_compiles_nothing(
    files: CompiledFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_with_code(files)
    first = a_try(None)
    monkeypatch.delattr(compiled, "_compile")
    made = a_try(memory)
    assert (made.module, made.content_hash) == (first.module, first.content_hash)
    assert made.code.co_filename == FILE
    assert answer(made) == 42


@pytest.mark.parametrize(("file", "source"), [(FILE, b"answer = 43\n"), ("/dags/other.py", SOURCE)])
def test_other_source_and_other_files_are_compiled(
    files: CompiledFiles, file: str, source: bytes
) -> None:
    made = a_try(memory_with_code(files), source, file)
    assert made == a_try(None, source, file)
    assert answer(made) == int(source.split()[-1])


def test_what_is_kept_cannot_be_changed(files: CompiledFiles) -> None:
    memory = memory_with_code(files)
    with pytest.raises(PermissionError):
        os.pwrite(memory, b"other", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(memory, 0)


def test_one_try_alone_may_write(files: CompiledFiles) -> None:
    files.memory_for(FILE, 0.0)
    assert files.memory_for(FILE, 1.0) is not None
    assert files.memory_for(FILE, 1.0) is None


def test_what_does_not_compile_leaves_nothing_open(files: CompiledFiles) -> None:
    files.memory_for(FILE, 0.0)
    before = os.listdir("/proc/self/fd")
    memory = files.memory_for(FILE, 1.0)
    with pytest.raises(SyntaxError):
        a_try(memory, b"answer = (\n")
    assert len(os.listdir("/proc/self/fd")) == len(before) + 1
    assert files.memory_for(FILE, 2.0) is None


def test_what_is_too_large_is_not_kept(
    files: CompiledFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "_LARGEST", 100)
    files.memory_for(FILE, 0.0)
    assert answer(a_try(files.memory_for(FILE, 1.0))) == 42
    assert files.memory_for(FILE, 2.0) is None


def test_it_is_compiled_anew_after_a_time(files: CompiledFiles) -> None:
    memory_with_code(files)
    later = compiled._LIFETIME + 1
    assert files.memory_for(FILE, later) is None
    assert answer(a_try(files.memory_for(FILE, later), b"answer = 43\n")) == 43
    made = a_try(files.memory_for(FILE, later), b"answer = 43\n")
    assert answer(made) == 43


def test_the_file_that_was_not_used_for_longest_is_forgotten(files: CompiledFiles) -> None:
    before = os.listdir("/proc/self/fd")
    memory_with_code(files)
    for number in range(compiled._MOST):
        files.memory_for(f"/dags/{number}.py", 3.0)
    assert os.listdir("/proc/self/fd") == before
    assert files.memory_for(FILE, 3.0) is None


def test_only_python_files() -> None:
    with pytest.raises(CodeMissing, match="is not a Python file"):
        a_try(None, file="/dags/notes.txt")


def test_what_cannot_be_written_down_is_not_kept(
    files: CompiledFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(content: object) -> bytes:
        raise ValueError("object too deeply nested to marshal")

    monkeypatch.setattr("marshal.dumps", refuse)
    files.memory_for(FILE, 0.0)
    assert answer(a_try(files.memory_for(FILE, 1.0))) == 42
    assert files.memory_for(FILE, 2.0) is None
