"""Which part of a log is shown."""

from __future__ import annotations

import re

from flow.logs.excerpt import Excerpt


def shown(excerpt: Excerpt, first: list[str], *added: str) -> list[str]:
    """What is shown at first, after each addition, and at the end."""
    return ["".join(excerpt.first(first)), *map(excerpt.more, added), excerpt.last()]


def test_everything_passes_through() -> None:
    assert shown(Excerpt(), ["a\nb", "c\n"], "d") == ["a\nbc\n", "d", ""]


def test_the_last_lines_and_what_follows() -> None:
    assert shown(Excerpt(tail=2), ["a\nb\n", "c\n"], "d\n") == ["b\nc\n", "d\n", ""]


def test_a_line_without_an_end_counts_and_goes_on() -> None:
    assert shown(Excerpt(tail=2), ["a\nb\nc"], "d\n", "e\n") == ["b\nc", "d\n", "e\n", ""]


def test_no_lines_at_first() -> None:
    assert shown(Excerpt(tail=0), ["a\nb"], "c\n") == ["", "c\n", ""]


def test_matching_lines_are_shown_whole() -> None:
    excerpt = Excerpt(pattern=re.compile("x"))
    assert shown(excerpt, ["ax\nb\nc"], "x\nno\n", "last x") == ["ax\n", "cx\n", "", "last x\n"]


def test_the_last_matching_lines() -> None:
    excerpt = Excerpt(tail=1, pattern=re.compile("x"))
    assert shown(excerpt, ["x1\nx2\nb\nx"], "3\n") == ["x2\n", "x3\n", ""]
