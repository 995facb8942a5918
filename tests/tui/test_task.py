"""The screens of a task and of a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from driving import assert_looks_as_before_at_each_size, drive, until, until_shown
from snapshots import lines_of

from flow.errors import DatabaseError
from flow.logs import LogFiles
from flow.ops import clearing, rendering, running
from flow.ops.deployment import Deployment
from flow.ops.rendering import Rendering
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import TaskState
from flow_tui import targets
from flow_tui.log_model import Grown, LogFile
from flow_tui.screens.task import TaskScreen
from flow_tui.view import View
from flow_tui.widgets.log_view import LogView
from operations_world import World

RUN = "manual__2026-07-08T00:00:00+00:00"


@pytest.fixture
def failed(world: World, tmp_path: Path) -> World:
    """A run whose second task has failed, with a log."""
    world.define("sales", schedule="@daily")
    running.run(world.deployment, Wish("sales", date="2026-07-08"))
    world.finish({"load": TaskState.FAILED})
    world.fix_what_varies()
    world.conn.execute("update try_history set log = null")
    write_log(tmp_path, "load", 1, [f"line {n}" for n in range(200)] + ["ERROR: no such file"])
    return world


def write_log(home: Path, task: str, number: int, lines: list[str]) -> Path:
    address = LogFiles(home / "logs").address("sales", RUN, task, (), number)
    file = Path(address)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def of(task: str) -> targets.Target:
    return targets.task("sales", RUN, task)


def test_a_failed_task_opens_on_its_reason_and_the_end_of_its_log(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "ERROR: no such file")
        shown = "\n".join(lines_of(pilot.app))
        assert "✗ failed" in shown
        assert "line 199" in shown
        assert "line 100\n" not in shown

    drive(make_app(of("load")), story)


def test_a_task_that_has_not_run_since_it_was_cleared_says_so(world: World, make_app) -> None:
    world.define("sales")
    running.run(world.deployment, Wish("sales", date="2026-07-08"))
    world.finish()
    clearing.clear(world.deployment, clearing.Wish("sales", Which(RUN)))
    world.finish({"extract": TaskState.FAILED})

    async def story(pilot) -> None:
        await until_shown(pilot, "not run since it was cleared; before that try 1")

    drive(make_app(of("load")), story)
    drive(make_app(targets.dag("sales")), in_grid)


async def in_grid(pilot) -> None:
    """The cell of `load` in the grid of the DAG says it too."""
    await until_shown(pilot, "load")
    await pilot.press("j")
    await until_shown(pilot, "not run since it was cleared; before that try 1 took")


def test_a_log_is_searched_and_gone_through(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "ERROR: no such file")
        await pilot.press("slash", *"LINE 1", "enter")
        await until_shown(pilot, "no line has 'LINE 1'")
        await pilot.press("slash", *["backspace"] * 6, *"line 5", "enter")
        await until_shown(pilot, "1 of 11 lines with 'line 5'")
        view = pilot.app.screen.query_one(LogView)
        assert view.search.line == 5
        await pilot.press("n")
        assert view.search.line == 50
        await pilot.press("N", "N")
        await until_shown(pilot, "11 of 11 lines with 'line 5'")
        await pilot.press("f")
        await until_shown(pilot, "ERROR: no such file")
        await pilot.press("slash", "up")
        assert pilot.app.focused.value == "line 5"

    drive(make_app(of("load")), story)


def test_the_log_of_a_deleted_run_is_not_that_of_the_next_one(
    world: World, make_app, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Grown] = []
    grow = LogFile.grow

    def noting(log: LogFile) -> Grown:
        looks.append(grow(log))
        return looks[-1]

    monkeypatch.setattr(LogFile, "grow", noting)
    world.define("sales", {"load": ()})
    running.run(world.deployment, Wish("sales", date="2026-07-08"))
    world.schedule()
    world.claim()
    world.conn.execute("update try_hot set log = null, pid = null")
    file = write_log(tmp_path, "load", 1, ["story one"])
    os.utime(file, (0, 0))

    async def story(pilot) -> None:
        await until(pilot, lambda: looks, "a look at the log")
        assert looks[0].lines == 0
        file.unlink()
        write_log(tmp_path, "load", 1, ["story two"])
        await until_shown(pilot, "story two")

    drive(make_app(of("load")), story)


def test_a_growing_log_is_followed_until_somebody_scrolls_up(
    failed: World, make_app, tmp_path: Path
) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "ERROR: no such file")
        file = LogFiles(tmp_path / "logs").address("sales", RUN, "load", (), 1)
        with open(file, "a") as log:
            log.write("more\n")
        await until_shown(pilot, "more")
        await pilot.press("g")
        await until_shown(pilot, "line 0")
        with open(file, "a") as log:
            log.write("still more\n")
        await until_shown(pilot, "203 lines")
        assert "line 0" in lines_of(pilot.app)
        await pilot.press("G")
        await until_shown(pilot, "still more")

    drive(make_app(of("load")), story)


def test_other_tries_are_a_key_away(failed: World, make_app, tmp_path: Path) -> None:
    failed.conn.execute(
        "insert into try_history select (jsonb_populate_record(null::try_history, to_jsonb(t)"
        " || jsonb_build_object('try_number', 2))).* from try_history t where task_id = 'load'"
    )
    write_log(tmp_path, "load", 2, ["the second one"])

    async def story(pilot) -> None:
        await until_shown(pilot, "the second one")
        await pilot.press("left")
        await until_shown(pilot, "ERROR: no such file")
        await until_shown(pilot, "try 1 of 2")
        assert pilot.app.screen.command.endswith("--try 1")
        await pilot.press("right")
        await until_shown(pilot, "the second one")

    drive(make_app(of("load")), story)


def test_fields_are_rendered_again_when_the_database_was_away(
    failed: World, make_app, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def render(deployment: Deployment, dag_id: str, task: str, run: str) -> Rendering:
        asked.append(task)
        if len(asked) == 1:
            raise DatabaseError("the database went away", "try again")
        return Rendering(dag_id, run, task, [], {"command": "echo rendered at last"})

    monkeypatch.setattr(rendering, "render", render)

    async def story(pilot) -> None:
        await until_shown(pilot, "ERROR: no such file")
        pilot.app.screen.panes.show("rendered")
        await until_shown(pilot, "echo rendered at last")
        pilot.app.screen.refresh_data()
        await pilot.pause()
        assert asked == ["load"] * 2  # what was read stays

    drive(make_app(of("load")), story)


def test_looks(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "ERROR: no such file")
        await until_shown(pilot, "201 lines")
        await assert_looks_as_before_at_each_size(pilot, "task")
        pilot.app.open(targets.run("sales", RUN))
        await until_shown(pilot, "no reason was given")
        await assert_looks_as_before_at_each_size(pilot, "run")

    drive(make_app(of("load")), story)


def test_every_pane_of_a_task_and_of_a_run_says_something(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "ERROR: no such file")
        screen = pilot.app.screen
        assert isinstance(screen, TaskScreen)
        commands = [screen.command]
        for _ in range(5):
            await pilot.press("tab")
            await until(pilot, lambda: screen.command not in commands, "another pane")
            commands.append(screen.command)
        assert commands == [
            f"flow logs sales {RUN} load",
            f"flow tasks tries sales {RUN} load",
            f"flow why sales {RUN} load",
            f"flow tasks render sales load {RUN}",
            f"flow xcom list sales {RUN} load",
            f"flow events sales {RUN}",
        ]
        pilot.app.open(targets.run("sales", RUN))
        await until_shown(pilot, "upstream_failed")
        run_screen = pilot.app.screen
        assert isinstance(run_screen, View)
        for text in (
            "interval from",
            "load",
            "first version",
            "has succeeded",
            "root@" if os.geteuid() == 0 else "@",
        ):
            await pilot.press("tab")
            await until_shown(pilot, text)

    drive(make_app(of("load")), story)
