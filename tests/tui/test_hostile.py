"""What others do to a thing while it is shown: delete it, cut its log, repair it as well."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from driving import drive, until, until_shown
from hostile import EVIL
from snapshots import lines_of
from test_task import RUN, of, write_log

from flow.ops import deleting, running
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import TaskState
from flow.store import dags
from flow.store.connect import transaction
from flow_tui import targets
from operations_world import World


@pytest.fixture
def failed(world: World) -> World:
    """A run whose second task has failed."""
    world.define("sales")
    running.run(world.deployment, Wish("sales", date="2026-07-08"))
    world.finish({"load": TaskState.FAILED})
    world.conn.execute("update try_history set log = null")
    return world


def shown(pilot, text: str) -> bool:
    return any(text in line for line in lines_of(pilot.app))


def test_what_is_deleted_while_it_is_shown_is_told_and_can_be_left(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "✗ failed")
        await pilot.press("C")
        await until_shown(pilot, "Clear 2 tasks")
        await until(pilot, lambda: not pilot.app.screen.query_one("#do").disabled, "the button")
        deleting.delete(failed.deployment, "sales", Which(reference=RUN))
        failed.conn.execute("select nextval('change_counter')")
        await pilot.press("right", "enter")
        await until_shown(pilot, "has no run")
        await pilot.press("escape")
        await until_shown(pilot, "has no run")  # in the task's place
        await pilot.press("escape")
        await until_shown(pilot, "has no run")  # in the run's
        await pilot.press("escape")
        await until_shown(pilot, "no run yet")  # in the DAG's grid

    drive(make_app(targets.dag("sales"), targets.run("sales", RUN), of("load")), story)


def test_a_dag_that_goes_while_it_is_shown_is_told(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "✓ success  extract")
        with transaction(failed.conn, "test"):
            dags.hide(failed.conn, ["/dags/one.py"])
        failed.conn.execute("delete from run")
        failed.conn.execute("delete from dag")
        failed.conn.execute("select nextval('change_counter')")
        await until_shown(pilot, "sales")
        await pilot.press("R")
        await until_shown(pilot, "no DAG")

    drive(make_app(targets.dag("sales")), story)


def test_a_log_is_followed_however_it_is_cut(failed: World, make_app, tmp_path: Path) -> None:
    file = write_log(tmp_path, "load", 1, [f"line {n}" for n in range(200)])

    async def story(pilot) -> None:
        await until_shown(pilot, "line 199")
        os.truncate(file, 0)
        await until_shown(pilot, "0 lines")
        file.write_text("begun anew\n")
        await until_shown(pilot, "begun anew")
        file.unlink()
        await until_shown(pilot, "the log is not on this host")
        write_log(tmp_path, "load", 1, [EVIL, "[/] is here again"])
        await until_shown(pilot, "[/] is here again")
        assert shown(pilot, "[red]x[/] [/]")
        assert [line for line in lines_of(pilot.app) if not line.isprintable()] == []

    drive(make_app(of("load")), story)


def test_a_long_log_is_gone_through_and_a_long_line_folded(
    failed: World, make_app, tmp_path: Path
) -> None:
    long = "x" * 10_000_000
    write_log(tmp_path, "load", 1, [*(f"line {n}" for n in range(100_000)), f"{long} end", "last"])

    async def story(pilot) -> None:
        await until_shown(pilot, "last")
        await until_shown(pilot, "100002 lines")
        await pilot.press("z", "pageup")
        await until(pilot, lambda: shown(pilot, "line 9995"), "what is above it, not folded")
        await pilot.press("z", "home")
        await until_shown(pilot, "line 0")
        await pilot.press("slash", *"line 54321", "enter")
        await until_shown(pilot, "1 of 1 lines with 'line 54321'")
        await pilot.press("end")
        await until_shown(pilot, "last")

    drive(make_app(of("load")), story)


def test_two_who_repair_the_same_task_do_it_once(failed: World, make_app) -> None:
    """Both have seen the plan before either says yes."""

    async def story(pilot) -> None:
        second = make_app(of("load"))
        async with second.run_test(size=(120, 40), notifications=True) as other:
            for one in (pilot, other):
                await until_shown(one, "✗ failed")
                await one.press("C")
                await until_shown(one, "Clear 2 tasks of 1 run of sales?")
                await until(one, lambda one=one: not one.app.screen.query_one("#do").disabled, "do")
            await pilot.press("right", "enter")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the end of its dialog")
            await other.press("right", "enter")
            await until_shown(other, "not what was shown any more")

    drive(make_app(of("load")), story)
    assert failed.value("select count(*) from audit where verb = 'clear'") == 1
