"""The dialogs, as they lie over the screens from which they are asked for."""

from __future__ import annotations

import pytest
from driving import assert_looks_as_before_at_each_size, drive, until, until_shown

from flow_tui import targets
from flow_tui.view import View

RUN = "manual__2026-07-08T06:00:00+00:00"
TASK = targets.task("sales", RUN, "load", "failed")


@pytest.mark.parametrize(
    ("name", "place", "keys", "shown"),
    [
        ("plan", None, "2 G P", "Pause 1 DAG?"),
        ("clear", TASK, "C", "Clear 1 task of 1 run of sales?"),
        ("backfill", targets.dag("sales"), "B", "Start a backfill of sales"),
        ("keys", TASK, "question_mark", "find an action"),
        ("palette", None, "colon o r d", "orders"),
        ("why", targets.run("sales", RUN), "tab w", "load is failed"),
        ("details", None, "2 G d", "LIMITS"),
        ("search", TASK, "slash", "earlier ones"),
        ("text", None, "7 G enter", "database role flow"),
    ],
)
def test_a_dialog_looks_as_before(open_night, name, place, keys, shown) -> None:
    app = open_night(*([place] if place else []))

    def read() -> bool:
        screen = app.screen
        return not isinstance(screen, View) or (screen._loaded and not screen._loading)

    async def story(pilot) -> None:
        for key in keys.split():
            await until(pilot, read, "what is behind")
            await pilot.press(key)
        await until_shown(pilot, shown)
        await assert_looks_as_before_at_each_size(pilot, f"dialog_{name}")

    drive(app, story)


def test_a_dialog_hides_nothing_beside_it_in_sixteen_colours(open_night) -> None:
    app = open_night(TASK)
    app.theme = "flow-16"

    async def story(pilot) -> None:
        await until_shown(pilot, "try 1")
        await pilot.press("slash")
        await until_shown(pilot, "search the log")
        await until_shown(pilot, "try 1")

    drive(app, story)
