"""What `flow grid` draws, from grids made by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from flow.ops.grid import Grid, GridTask
from flow.states import TaskState
from flow.store.read.grid import GridRun
from flow.wording.looks import LOOKS
from flow_cli.drawing import Sheet, plain_text
from flow_cli.grid_page import draw, fitting, json_of

PIPE = Sheet(None, symbols=True)
S, F, U, N = TaskState.SUCCESS, TaskState.FAILED, TaskState.UPSTREAM_FAILED, TaskState.RUNNING
LONG = "publish_the_figures_of_the_night_to_everybody_who_has_asked_for_them"


def run(day: int, minutes: int | None, **fields: Any) -> GridRun:
    at = datetime(2026, 10, day, tzinfo=UTC)
    ended = None if minutes is None else at + timedelta(minutes=minutes)
    state = "running" if minutes is None else "success"
    return GridRun(
        run_key=day,
        run_id=f"scheduled__{day}",
        **{"run_type": "scheduled", "state": state, "version": 1, **fields},
        logical_date=at,
        started_at=at,
        ended_at=ended,
    )


GRID = Grid(
    "shop",
    "UTC",
    [
        run(1, 24),
        run(2, 12, state="failed", run_type="manual"),
        run(3, 48, version=2),
        run(4, None, version=2, run_type="backfill"),
    ],
    [
        GridTask("extract", [], [S, S, S, S]),
        GridTask("load.ch.raw", ["load", "load.ch"], [S, F, S, N]),
        GridTask("load.de", ["load"], [S, S, S, S]),
        GridTask(LONG, [], [None, None, S, TaskState.NONE]),
    ],
)

DRAWN = """\
48 min 0 s                                                                  █
                                                                      ▄     █
                                                                      █  ▆  █
                                                                     10 10 10 10
                                                                     01 02 03 04
type                                                                     m     b
version                                                               1     2
run                                                                   ✓  ✗  ✓  ▶
extract                                                               ✓  ✓  ✓  ✓
load/
  load.ch/
    load.ch.raw                                                       ✓  ✗  ✓  ▶
  load.de                                                             ✓  ✓  ✓  ✓
publish_the_figures_of_the_night_to_everybody_who_has_asked_for_them        ✓  ·

· none  ▶ running  ✓ success  ✗ failed
m manual  b backfill
"""


def text(grid: Grid, sheet: Sheet) -> str:
    return "".join(plain_text(line) + "\n" for line in draw(grid, sheet))


def test_bars_types_versions_groups_and_whole_ids():
    first, *rest = DRAWN.splitlines(keepends=True)
    shown = text(GRID, PIPE).splitlines(keepends=True)
    assert (shown[0].split(), shown[1:]) == (first.split(), rest)


def test_in_letters_all_of_it_is_ascii():
    shown = text(GRID, Sheet(None, symbols=False))
    assert shown.isascii()
    assert "load.ch.raw                                                       +  X  +  >" in shown
    assert "X failed" in shown
    assert shown.splitlines()[2].split() == ["#", ":", "#"]


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_it_fits_and_long_ids_keep_both_ends(width: int):
    wide = GRID._replace(
        runs=[run(day, 1) for day in range(1, 29)],
        tasks=[one._replace(states=[S] * 28) for one in GRID.tasks],
    )
    sheet = Sheet(width, symbols=True)
    lines = text(wide, sheet).splitlines()
    assert max(map(len, lines)) <= width
    last = next(line for line in lines if line.startswith("publish"))
    assert last.split()[0].endswith("asked_for_them" if width > 100 else "for_them")
    assert last.count("✓") == fitting(wide, sheet) > 3
    assert ("…" in last) == (width < 200 or len(LONG) > width // 3)


def test_every_state_has_a_sign_of_its_own():
    for signs in ([look.symbol for look in LOOKS.values()], [one.letter for one in LOOKS.values()]):
        assert len(set(signs)) == len(signs)


def test_a_duration_longer_than_any_id_moves_nothing():
    short = Grid("shop", "UTC", [run(1, 130), run(2, 10)], [GridTask("a", [], [S, S])])
    top, *others = text(short, PIPE).splitlines()
    assert top == "2 h 10 min  █"
    assert others[-3] == "a           ✓  ✓"


def test_what_is_all_the_same_is_not_said():
    shown = text(GRID._replace(runs=[run(day, 3) for day in (1, 2, 3, 4)]), PIPE)
    assert "type" not in shown
    assert "version" not in shown
    nothing = Grid("shop", "UTC", [], [GridTask("extract", [], [])])
    assert text(nothing, PIPE) == "run\nextract\n"


def test_a_task_that_only_older_versions_have_is_marked_and_is_left_out_where_no_run_has_it():
    old = GridTask("load.old", ["load"], [S, None, None, None], old=True)
    grid = GRID._replace(tasks=[*GRID.tasks[:3], old])
    assert text(grid, PIPE).splitlines()[-4] == "  load.old (old)  ✓"
    narrow = Sheet(27, symbols=True)
    assert fitting(grid, narrow) == 3
    assert "load.old" not in text(grid, narrow)
    assert json_of(grid)["tasks"][-1]["old"] is True
