"""The lists of backfills, pools, roles, import errors and audit entries, and what they open."""

from __future__ import annotations

import pytest
from driving import assert_looks_as_before_at_each_size, drive, until, until_shown
from night import BROKEN
from snapshots import lines_of

from flow_tui.targets import Kind, Target
from flow_tui.widgets.filter import FilterBar
from flow_tui.widgets.table import Table


def rows(app) -> list:
    return app.screen.query_one(Table).rows


@pytest.mark.parametrize(
    ("key", "name", "shown"),
    [
        ("2", "dags", "orders"),
        ("3", "backfills", "▶ running"),
        ("4", "pools", "warehouse"),
        ("5", "roles", "healthy"),
        ("6", "errors", "prices.py"),
        ("7", "audit", "pools.set"),
    ],
)
def test_a_list_looks_as_before(open_night, key, name, shown) -> None:
    app = open_night()

    async def story(pilot) -> None:
        await pilot.press(key)
        await until_shown(pilot, shown)
        await until(pilot, lambda: not app.screen._loading, "all of it")
        await assert_looks_as_before_at_each_size(pilot, name)

    drive(app, story)


@pytest.mark.parametrize(
    ("target", "name", "shown"),
    [
        (Target(Kind.BACKFILL, ("1",)), "backfill", "✗"),
        (Target(Kind.POOL, ("warehouse",)), "pool", "waited for by"),
        (Target(Kind.FILE, (BROKEN,)), "file", "TRACEBACK"),
    ],
)
def test_what_a_list_opens_looks_as_before(open_night, target, name, shown) -> None:
    app = open_night(target)

    async def story(pilot) -> None:
        await until_shown(pilot, shown)
        await until(pilot, lambda: app.screen._loaded and not app.screen._loading, "all of it")
        await assert_looks_as_before_at_each_size(pilot, name)

    drive(app, story)


def test_enter_goes_from_a_backfill_to_its_failed_interval(open_night) -> None:
    app = open_night()

    async def story(pilot) -> None:
        await pilot.press("3")
        await until(pilot, lambda: rows(app), "the backfills")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.path[0] == "Backfills" and rows(app), "the intervals")
        first = rows(app)[0]
        assert first.state == "failed"
        await pilot.press("enter")
        await until(pilot, lambda: first.run_id in "\n".join(lines_of(app)), "the run")

    drive(app, story)


def test_an_interval_without_a_run_says_so(open_night) -> None:
    app = open_night(Target(Kind.BACKFILL, ("1",)))

    async def story(pilot) -> None:
        await until(pilot, lambda: rows(app), "the intervals")
        await pilot.press("G", "enter")
        told = "this interval has no run yet: its turn has not come"
        await until(pilot, lambda: told in [one.message for one in app._notifications], told)

    drive(app, story)


def test_a_pool_names_who_holds_it_and_why_others_wait(open_night) -> None:
    app = open_night(Target(Kind.POOL, ("warehouse",)))

    async def story(pilot) -> None:
        await until_shown(pilot, "pool warehouse: 1 of 1 slots used, and it needs 1")
        await until(pilot, lambda: app.screen.targets(), "the holder")
        (target,) = app.screen.targets()
        assert target.words[:2] == ("orders", "now")
        assert target.words[2].startswith("part_")

    drive(app, story)


def test_the_lines_of_a_broken_file_are_shown_where_this_host_has_it(night, open_night, tmp_path):
    path = tmp_path / "prices.py"
    path.write_text("one\ntwo\nthree\nprcie = 1\nfive\n")
    night.conn.execute("update dag_file set path = %s where path = %s", (str(path), BROKEN))
    try:

        async def story(pilot) -> None:
            await until_shown(pilot, "▶ 4 prcie = 1")
            await until_shown(pilot, "changed since it was parsed")

        drive(open_night(Target(Kind.FILE, (str(path),))), story)
    finally:
        night.conn.execute("update dag_file set path = %s where path = %s", (BROKEN, str(path)))


def test_an_audit_entry_opens_as_a_whole(open_night) -> None:
    app = open_night()

    async def story(pilot) -> None:
        await pilot.press("7", "slash", *"verb:pools")
        await until(
            pilot, lambda: app.screen.query_one(FilterBar).text == "verb:pools", "the filter"
        )
        await until(pilot, lambda: len(rows(app)) == 1, "the entry")
        await pilot.press("enter", "enter")
        await until_shown(pilot, "database role flow, on etl-1")
        await until_shown(pilot, "description: What the warehouse can bear")

    drive(app, story)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("2", "no DAG yet: put a file into the DAG folder"),
        ("3", "no backfill yet"),
        ("6", "every DAG file can be imported"),
        ("7", "nobody has changed anything yet"),
    ],
)
def test_an_empty_list_says_what_to_do(world, make_app, key, said) -> None:
    async def story(pilot) -> None:
        await pilot.press(key)
        await until_shown(pilot, said)

    drive(make_app(), story, (80, 24))
