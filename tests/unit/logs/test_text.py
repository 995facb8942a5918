"""Bytes of logs as text: nothing is lost, nothing drives a terminal."""

from __future__ import annotations

from itertools import pairwise
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.logs.text import CUT, Lines, lines, readable


def text_of(*pieces: bytes) -> str:
    return "".join(readable(pieces))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\n", "plain\n"),
        (b"no end", "no end"),
        (b"", ""),
        ("é ∅ 🙂\n".encode(), "é ∅ 🙂\n"),
        (b"\xff\xfe\n", "\\xff\\xfe\n"),
        ("cut é".encode()[:-1], "cut \\xc3"),
        (b"\x1b[31mred\x1b[0m\x00\x07", "\\x1b[31mred\\x1b[0m\\x00\\x07"),
        ("\x9b31m\u202e\u2028".encode(), "\\x9b31m\\u202e\\u2028"),
        (b"a\tb", "a\tb"),
        (b"windows\r\nlines\r\n", "windows\nlines\n"),
        (b" 10%\r 20%\r100%\n", " 10%\n 20%\n100%\n"),
        (b"\r10%\r20%", "10%\n20%"),
        (b"done\r", "done\n"),
        (b"a\n\r\nb", "a\n\nb"),
    ],
)
def test_readable(data: bytes, text: str) -> None:
    assert text_of(data) == text
    assert text_of(*(bytes([byte]) for byte in data)) == text, "the same byte by byte"


@given(st.binary(), st.lists(st.integers(0, 200)))
def test_pieces_make_no_difference(data: bytes, cuts: list[int]) -> None:
    borders = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    assert text_of(*(data[a:b] for a, b in pairwise(borders))) == text_of(data)


@given(st.binary())
def test_only_newlines_and_tabs_are_left_of_controls(data: bytes) -> None:
    assert not [char for char in text_of(data) if category(char) == "Cc" and char not in "\n\t"]


@given(st.text(st.sampled_from("ab\n"), max_size=60), st.lists(st.integers(0, 60)))
def test_lines_are_those_of_the_whole_text(text: str, cuts: list[int]) -> None:
    borders = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    assert list(lines(text[a:b] for a, b in pairwise(borders))) == text.splitlines()


def test_a_long_line_is_cut_with_a_mark() -> None:
    long = Lines(longest=4)
    assert [*long.feed("abcdef"), *long.feed("ghij\nk"), *long.finish()] == [
        "abcd" + CUT,
        "efgh" + CUT,
        "ij",
        "k",
    ]
