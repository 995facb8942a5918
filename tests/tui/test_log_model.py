"""Logs as lines, read when they are needed."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.errors import LogUnreadable
from flow.logs import LogFiles
from flow_tui.log_model import LogFile, Search, text_of_line


class Written:
    """A place with one log, read in pieces of a few bytes."""

    def __init__(self, data: bytes = b"", piece: int = 7) -> None:
        self.data = data
        self.piece = piece

    def address(
        self, dag_id: str, run_id: str, task_id: str, map_path: Sequence[int], try_number: int
    ) -> str:
        return "here"

    def exists(self, address: str) -> bool:
        return True

    def read(self, address: str, offset: int = 0) -> Iterator[bytes]:
        while offset < len(self.data):
            yield self.data[offset : offset + self.piece]
            offset += self.piece


def whole(log: LogFile) -> list[str]:
    while log.grow().more:
        pass
    return log.window(0, log.lines)


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\u2028\u2029\x85"))),
    st.integers(1, 9),
    st.booleans(),
)
def test_lines_are_those_that_were_written(lines: list[str], piece: int, ended: bool) -> None:
    text = "\n".join(lines) + ("\n" if ended and lines else "")
    log = LogFile(Written(text.encode(), piece), "here")
    expected = [text_of_line(line.encode()) for line in text.split("\n")]
    assert whole(log) == (expected[:-1] if expected[-1] == "" else expected)


def test_it_grows_by_lines_and_by_the_rest_of_one() -> None:
    place = Written(b"one\ntw")
    log = LogFile(place, "here")
    assert whole(log) == ["one", "tw"]
    place.data += b"o\nthree\n"
    assert whole(log) == ["one", "two", "three"]
    assert log.window(1, 1) == ["two"]
    assert log.window(5, 3) == []


def test_a_log_that_has_become_shorter_is_another_one() -> None:
    place = Written(b"one\ntwo\nthree\n")
    log = LogFile(place, "here")
    assert whole(log) == ["one", "two", "three"]
    place.data = b"new\n"
    assert log.grow().anew
    assert whole(log) == ["new"]


def test_a_progress_bar_is_its_last_state() -> None:
    assert text_of_line(b" 1 %\r 50 %\r100 %\n") == "100 %"
    assert text_of_line(b"done\r\n") == "done"


def test_nothing_in_it_drives_a_terminal() -> None:
    assert text_of_line(b"\x1b[31mred\xff") == "\\x1b[31mred\\xff"


@given(
    st.lists(st.sampled_from(["error", "Error", "fine", "an error here", ""])), st.integers(1, 9)
)
def test_a_search_finds_every_line_once(lines: list[str], piece: int) -> None:
    log = LogFile(Written("\n".join(lines).encode(), piece), "here")
    whole(log)
    assert log.search("error", 100) == [n for n, line in enumerate(lines) if "rror" in line]
    assert log.search("Error", 100) == [n for n, line in enumerate(lines) if "Error" in line]
    assert log.search("error", 1) == log.search("error", 100)[:1]


def test_going_through_what_was_found() -> None:
    search = Search("x", [3, 8, 20]).after(5)
    assert (search.line, search.counter) == (8, "2 of 3 lines with 'x'")
    assert search.step(1).step(1).line == 3
    assert search.step(-1).line == 3
    assert Search("x", [3]).after(9).line == 3
    assert Search("x", []).after(0).step(1).counter == "no line has 'x'"


def test_of_a_line_without_end_only_what_is_shown_is_read(tmp_path: Path) -> None:
    place = LogFiles(tmp_path)
    address = tmp_path / "long.log"
    with address.open("wb") as file:
        file.write(b"first\n")
        file.truncate(20 << 20)
        file.seek(0, 2)
        file.write(b"\nlast\n")
    log = LogFile(place, str(address))
    tracemalloc.start()
    try:
        first, long, last = whole(log)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (first, last) == ("first", "last")
    assert long.startswith("\\x00\\x00")
    assert most < 4 << 20


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_no_log_and_nobody_waits_for_it(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    address = tmp_path / "attempt=1.log"
    make(address)
    log = LogFile(LogFiles(tmp_path), str(address))
    with pytest.raises(LogUnreadable, match=r"it is no file"):
        log.grow()
