"""The home screen, through the app."""

from __future__ import annotations

from driving import assert_looks_as_before_at_each_size, drive, until, until_shown
from night import BROKEN
from textual.widgets import Input

from flow_tui.targets import Kind
from flow_tui.widgets.panel import Panel


async def ready(pilot) -> None:
    await until_shown(pilot, "sales")


def test_it_begins_with_what_failed_last_and_enter_names_the_task(open_night) -> None:
    app = open_night()

    async def story(pilot) -> None:
        await ready(pilot)
        await until(pilot, lambda: app.screen.targets(), "something under the cursor")
        (target,) = app.screen.targets()
        assert target.kind is Kind.TASK
        assert (target.words[0], target.words[2]) == ("sales", "load")

    drive(app, story)


def test_the_cursor_goes_through_all_panels_and_opens_what_it_is_on(open_night) -> None:
    app = open_night()

    async def story(pilot) -> None:
        await ready(pilot)
        await until(pilot, lambda: app.focused is app.screen.query_one("#failures"), "the focus")
        visited = [app.focused.id]
        for _ in range(12):
            await pilot.press("down")
            if app.focused.id != visited[-1]:
                visited.append(app.focused.id)
        assert visited == ["failures", "errors", "due"]
        await pilot.press("h")
        assert app.focused.id == "errors"
        await pilot.press("enter")
        await until_shown(pilot, "prcie")
        assert app.screen.path == ("Errors", BROKEN.rpartition("/")[2])
        await pilot.press("escape")
        await ready(pilot)
        for _ in range(8):
            await pilot.press("up")
        await until(pilot, lambda: app.focused.id == "roles", "the panel of the roles")
        await pilot.press("l")
        assert app.focused.id == "pools"
        await pilot.press("enter")  # the fullest pool stands first
        await until_shown(pilot, "Pools › warehouse")

    drive(app, story)


def test_what_is_wrong_with_the_deployment_stands_above_all(world, make_app) -> None:
    app = make_app()

    async def story(pilot) -> None:
        await until_shown(pilot, "! no scheduler is alive: nothing is started")
        await until(pilot, lambda: app.focused is app.screen.query_one("#roles"), "the focus")
        assert not app.screen.query_one("#failures", Panel).rows
        await until_shown(pilot, "nothing has failed")

    drive(app, story)


def test_the_filter_key_finds_a_dag_from_here(open_night) -> None:
    async def story(pilot) -> None:
        await ready(pilot)
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(pilot.app.focused, Input), "the filter")
        await pilot.press(*"orde")
        await until_shown(pilot, "1 of 3")

    drive(open_night(), story)


def test_home_looks_as_before(open_night) -> None:
    app = open_night()

    async def story(pilot) -> None:
        await ready(pilot)
        await until(pilot, lambda: app.screen.targets(), "the cursor")
        await assert_looks_as_before_at_each_size(pilot, "home")

    drive(app, story)


def test_from_a_failure_a_key_leads_to_all_runs_of_its_dag(open_night) -> None:
    app = open_night()

    async def story(pilot) -> None:
        await until_shown(pilot, "a all runs")
        await pilot.press("a")
        await until_shown(pilot, "DAGs › sales")
        await pilot.press("escape")
        await until_shown(pilot, "latest failures")

    drive(app, story)
