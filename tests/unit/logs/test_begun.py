"""How long the beginning of a line waits for its end."""

from __future__ import annotations

import math

from flow.logs.begun import BegunLine


def test_a_line_that_comes_in_pieces_is_told_as_one() -> None:
    line = BegunLine()
    assert [line.hear(piece, 1.0) for piece in ("a", " ", "1", "\nb\nc", "\n")] == [
        "",
        "",
        "",
        "a 1\nb\n",
        "c\n",
    ]
    assert line.due == math.inf


def test_what_waits_too_long_is_told_as_it_is() -> None:
    line = BegunLine()
    assert line.hear("whole\nhalf", 1.0) == "whole\n"
    line.hear(" a", 1.2)
    assert line.tell_due(math.nextafter(line.due, 0)) == ""
    assert (1.0 < line.due < 2.0, line.tell_due(line.due)) == (True, "half a")
    assert line.hear(" line\n", 9.0) == " line\n"


def test_a_line_that_is_too_long_waits_for_nothing() -> None:
    line = BegunLine()
    text = "x" * 100_000
    assert line.hear(text, 1.0) == text


def test_the_last_words_come_with_the_end() -> None:
    line = BegunLine()
    line.hear("half", 1.0)
    assert (line.end(" a line"), line.tell_due(math.inf)) == ("half a line", "")
