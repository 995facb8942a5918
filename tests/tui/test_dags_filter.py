"""The filter over the table of DAGs, and what the table reads."""

from __future__ import annotations

from driving import drive, until, until_shown

from flow_tui.widgets.filter import FilterBar


def shown(app) -> list[str]:
    return [dag.dag_id for dag in app.screen.table.rows]


async def opened(pilot, count: int = 3) -> None:
    await pilot.press("2")
    await until_shown(pilot, "last runs")
    await until(pilot, lambda: len(shown(pilot.app)) == count, "the DAGs")


def test_typing_filters_escape_keeps_it_and_escape_again_shows_all(open_night) -> None:
    app = open_night()

    async def story(pilot) -> None:
        await opened(pilot)
        await pilot.press("slash", *"tag:shop !ord")
        await until(pilot, lambda: shown(app) == ["sales"], "the filter")
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is app.screen.table, "the focus on the table")
        assert not app.screen.query_one(FilterBar).typing
        await until_shown(pilot, "/ tag:shop !ord")
        await until_shown(pilot, "1 of 3")
        await pilot.press("escape")
        await until(pilot, lambda: len(shown(app)) == 3, "all DAGs")

    drive(app, story)


def test_a_filter_is_remembered_and_earlier_ones_are_recalled(open_night) -> None:
    async def first(pilot) -> None:
        await opened(pilot)
        await pilot.press("slash", *"orders", "enter", "slash", "ctrl+u", *"sales", "enter")
        await until(pilot, lambda: shown(pilot.app) == ["sales"], "the filter")

    async def second(pilot) -> None:
        await opened(pilot, 1)
        await pilot.press("slash", "up", "up")
        await until(pilot, lambda: shown(pilot.app) == ["orders"], "the one before")
        await pilot.press("down")
        await until(pilot, lambda: shown(pilot.app) == ["sales"], "the last one")

    drive(open_night(), first)
    drive(open_night(), second)


def test_states_can_be_asked_for(open_night) -> None:
    app = open_night()

    async def story(pilot) -> None:
        await opened(pilot)
        await pilot.press("slash", *"is:running")
        await until(pilot, lambda: shown(app) == ["orders", "sales"], "the running ones")
        await pilot.press("ctrl+u", *"is:paused")
        await until(pilot, lambda: shown(app) == ["archive"], "the paused one")

    drive(app, story)


def test_last_runs_are_read_for_the_rows_in_sight_only(world, make_app) -> None:
    world.define("first")
    world.conn.execute(
        "insert into dag (dag_id, file, paused, version, schedule, timezone, catchup, owner,"
        " max_active_runs) select 'more_' || lpad(number::text, 4, '0'), '/dags/more.py', true, 1,"
        " 'never', 'UTC', 'false', 'x', 16 from generate_series(1, 1500) number"
    )
    app = make_app()

    async def story(pilot) -> None:
        await opened(pilot, 1501)
        height = app.screen.table.size.height
        await until(pilot, lambda: "first" in app.screen._runs, "the first rows' runs")
        assert len(app.screen._runs) <= height
        await pilot.press("G")
        await until(pilot, lambda: "more_1500" in app.screen._runs, "the last row's runs")
        assert len(app.screen._runs) <= 2 * height

    drive(app, story)


def test_details_say_what_the_command_says(open_night) -> None:
    async def story(pilot) -> None:
        await opened(pilot)
        await pilot.press("G", "d")
        await until_shown(pilot, "flow dags show sales")
        await until_shown(pilot, "every day at 06:00 UTC")
        await pilot.press("escape")
        await opened(pilot)

    drive(open_night(), story)


def test_a_dag_that_came_or_went_is_seen_without_leaving(world, make_app) -> None:
    world.define("sales")
    app = make_app()

    async def story(pilot) -> None:
        await opened(pilot, 1)
        world.conn.execute("update dag set paused = true")
        app.eye.look_now()
        await until(pilot, lambda: app.screen.table.rows[0].paused, "the pause")
        world.conn.execute("update dag set present = false")
        app.eye.look_now()
        await until(pilot, lambda: not shown(app), "that it went")

    drive(app, story)
