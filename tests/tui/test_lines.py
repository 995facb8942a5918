"""How lines and columns find their room, and runs their short names."""

from __future__ import annotations

import pytest
from rich.console import Console
from rich.text import Text

from flow.wording.run_names import brief
from flow_tui.widgets.columns import Column, shared_out
from flow_tui.widgets.hanging import folded


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("short", ["short"]),
        (
            "  now: ten runs are created, from the first interval on",
            ["  now: ten runs are created,", "    from the first interval on"],
        ),
        (
            "command  echo it has gone up; exit 3",
            ["command  echo it has gone up;", "         exit 3"],
        ),
        ("x" * 70, ["x" * 30, "  " + "x" * 28, "  " + "x" * 12]),
        ("", [""]),
    ],
)
def test_a_long_line_goes_on_below_its_own_text(line: str, lines: list[str]) -> None:
    assert [one.plain.rstrip() for one in folded(Text(line), 30, Console(width=30))] == lines


def texts(*widths: int) -> list[list[str]]:
    return [["x" * width] for width in widths]


def columns(*columns: Column[str]) -> tuple[Column[str], ...]:
    return columns


def test_the_last_ranks_go_where_there_is_no_room() -> None:
    made = columns(
        Column("a", str), Column("b", str, rank=2), Column("c", str, rank=1), Column("d", str)
    )
    assert shared_out(made, texts(10, 10, 10, 10), 46) == [(0, 10), (1, 10), (2, 10), (3, 10)]
    assert shared_out(made, texts(10, 10, 10, 10), 36) == [(0, 10), (2, 10), (3, 10)]


def test_a_column_that_makes_do_with_less_gives_before_another_one_goes() -> None:
    made = columns(Column("a", str, enough=20), Column("b", str, rank=1))
    assert shared_out(made, texts(50, 10), 40) == [(0, 28), (1, 10)]
    assert shared_out(made, texts(50, 10), 31) == [(0, 31)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("scheduled__2026-10-09T00:00:00+00:00", "2026-10-09T00:00"),
        ("manual__2026-10-09T06:00:07.123456+00:00", "manual 2026-10-09T06:00:07"),
        (
            "sales/scheduled__2026-10-09T00:00:00+00:00/load, since 2026-10-09T00:00:00+00:00",
            "sales/2026-10-09T00:00/load, since 2026-10-09T00:00:00+00:00",
        ),
        ("my_own__run", "my_own__run"),
    ],
)
def test_runs_have_short_names(text: str, shown: str) -> None:
    assert brief(text) == shown
