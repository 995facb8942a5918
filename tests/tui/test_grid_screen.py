"""The grid of a DAG on a real database: opened, gone through, changed under somebody's eyes."""

from __future__ import annotations

import pytest
from driving import assert_looks_as_before_at_each_size, drive, until, until_shown
from snapshots import lines_of

from flow.graph import GroupSpec, TaskSpec
from flow.ops import running
from flow.ops.running import Wish
from flow.states import TaskState
from flow_tui import targets
from flow_tui.actions import BY_ID
from flow_tui.screens.grid import GridScreen
from flow_tui.screens.run import RunScreen
from flow_tui.screens.task import TaskScreen
from operations_world import World

TASKS = (
    TaskSpec(task_id="extract", operator="BashOperator"),
    TaskSpec(task_id="load.de", operator="BashOperator", upstream=("extract",), group="load"),
    TaskSpec(task_id="load.ch", operator="BashOperator", upstream=("extract",), group="load"),
    TaskSpec(task_id="report", operator="BashOperator", upstream=("load.ch", "load.de")),
)


@pytest.fixture
def nights(world: World) -> World:
    """Five nights, of which one has failed and one is under way."""
    world.define(
        "sales",
        TASKS,
        groups=(GroupSpec(group_id="load"),),
    )
    for day in (5, 6, 7, 8):
        running.run(world.deployment, Wish("sales", date=f"2026-07-0{day}"))
        world.finish({"load.ch": TaskState.FAILED} if day == 7 else None)
    world.fix_what_varies()
    return world


SALES = targets.dag("sales")


def cell_under_cursor(pilot) -> tuple[str, str]:
    model = pilot.app.screen.grid.model
    return model.cell.key.id, model.current.run.logical_date.date().isoformat()


def test_it_opens_at_the_newest_run_and_says_what_is_under_the_cursor(nights, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "try 1 took 1 min 4 s")
        assert cell_under_cursor(pilot) == ("extract", "2026-07-08")
        await pilot.press("left", "down", "down")
        await until_shown(pilot, "✗ failed  load.ch · 2026-07-07 00:00")
        await until_shown(pilot, "try 1 took 1 min 4 s on here:7")
        await pilot.press("up")
        await until_shown(pilot, "1 failed, 1 success")

    drive(make_app(SALES), story)


def test_what_it_looks_like(nights, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "try 1 took 1 min 4 s")
        await pilot.press("left", "down", "down")
        await until_shown(pilot, "✗ failed  load.ch")
        await assert_looks_as_before_at_each_size(pilot, "grid")

    drive(make_app(SALES), story)


def test_a_cell_and_a_run_are_opened_and_left_again(nights, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "4 runs")
        await pilot.press("left", "down", "down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, TaskScreen), "the task")
        assert pilot.app.screen.path[2] == "load.ch"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, GridScreen), "the grid again")
        assert cell_under_cursor(pilot) == ("load.ch", "2026-07-07")
        await pilot.press("i")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen), "the run")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, GridScreen), "the grid again")
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, GridScreen), "the list")

    drive(make_app(SALES), story)


def test_folds_filter_and_row_are_remembered(nights, make_app) -> None:
    async def leave(pilot) -> None:
        await until_shown(pilot, "4 runs")
        await pilot.press("slash")
        await until(pilot, lambda: pilot.app.focused.id == "filter", "the filter")
        await pilot.press(*"load", "enter")
        await until(pilot, lambda: pilot.app.focused is pilot.app.screen.grid, "the grid")
        await until_shown(pilot, "tasks with 'load'")
        await pilot.press("z")
        await pilot.press("escape", "G", "q")

    async def come_back(pilot) -> None:
        await until_shown(pilot, "4 runs")
        await until_shown(pilot, "▸ load")
        assert cell_under_cursor(pilot)[0] == "report"
        await pilot.press("up", "enter")
        await until_shown(pilot, "    ch")

    drive(make_app(SALES), leave)
    drive(make_app(SALES), come_back)


def test_a_run_that_goes_on_is_seen_to_go_on(nights, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "4 runs")
        running.run(nights.deployment, Wish("sales", date="2026-07-09"))
        nights.schedule()
        await until_shown(pilot, "5 runs")
        await until(pilot, lambda: cell_under_cursor(pilot)[1] == "2026-07-09", "the new run")
        await until_shown(pilot, "queued  extract")
        nights.finish()
        await until_shown(pilot, "✓ success  extract")

    drive(make_app(SALES), story)


def test_a_range_is_cleared_with_the_command_that_does_the_same(nights, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "4 runs")
        await pilot.press("left", "down", "down", "v", "down")
        await until_shown(pilot, "2 tasks selected")
        names = [one.name for one in pilot.app.screen.targets()]
        assert [name.split("/")[2] for name in names] == ["load.ch", "load.de"]
        assert all("2026-07-07" in name for name in names)
        await pilot.press("C")
        await until_shown(pilot, "flow clear sales")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: len(pilot.app.screen.targets()) == 1, "nothing selected")

    drive(make_app(SALES), story)


def test_the_dags_own_actions_are_at_hand(nights, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "4 runs")
        await until_shown(pilot, "P pause")
        assert "log" not in lines_of(pilot.app)[-1]
        screen, pause = pilot.app.screen, BY_ID["dag.pause"]
        assert pause.disabled(screen.targets_of(pause), read_only=False) is None
        nights.conn.execute("update dag set paused = true")
        await pilot.press("ctrl+r")
        await until(
            pilot,
            lambda: pause.disabled(screen.targets_of(pause), read_only=False) == "it is paused",
            "that it is paused",
        )

    drive(make_app(SALES), story)


def test_in_a_dag_without_runs_every_key_is_harmless(world: World, make_app) -> None:
    world.define("sales")

    async def story(pilot) -> None:
        await until_shown(pilot, "no run yet")
        keys = ("left", "down", "space", "v", "z", "Z", "enter", "i", "w", "C", "u", "end", "G")
        await pilot.press(*keys)
        assert isinstance(pilot.app.screen, GridScreen)

    drive(make_app(SALES), story)


def test_a_dag_that_is_not_there_is_said(world: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "there is no DAG 'sales'")

    drive(make_app(SALES), story)
