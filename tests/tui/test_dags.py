"""The table of DAGs, through the app."""

from __future__ import annotations

from driving import drive, until, until_shown

from operations_world import World


def test_pausing_shows_its_plan_and_its_command_first(world: World, make_app) -> None:
    world.define("sales", schedule="0 6 * * *")
    world.define("stock", file="/dags/two.py")

    async def story(pilot) -> None:
        await pilot.press("2")
        await until_shown(pilot, "sales")
        await pilot.press("P")
        await until_shown(pilot, "flow dags pause sales")
        await until_shown(pilot, "Pause 1 DAG?")
        await until(pilot, lambda: pilot.app.focused.id == "do", "the button")
        assert not world.rows("select from dag where paused")
        await pilot.press("enter")
        await until(pilot, lambda: world.rows("select from dag where paused"), "the pause")

    drive(make_app(), story)
