"""Actions: their dialogs, their keys, and that nothing is changed that was not shown."""

from __future__ import annotations

import pytest
from driving import drive, until, until_shown
from snapshots import lines_of

from flow.errors import UsageError
from flow.ops import holding, running
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow_tui import targets
from flow_tui.action import Danger
from flow_tui.actions import ACTIONS, BY_ID
from flow_tui.deeds.selection import by_run
from flow_tui.keymap import Keymap
from flow_tui.targets import Kind, Target
from flow_tui.widgets.table import Table
from operations_world import World

RUN = "manual__2026-07-08T00:00:00+00:00"


def of(task: str) -> Target:
    return targets.task("sales", RUN, task, "failed")


def state_of_run(world: World) -> str:
    return str(world.rows("select state from run where run_id = %s", RUN)[0][0])


def test_clearing_shows_plan_and_command_and_follows_each_choice(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "failed")
        await pilot.press("C")
        await until_shown(pilot, "Clear 2 tasks of 1 run of sales?")
        await until_shown(pilot, "--downstream")
        await pilot.press("d")
        await until_shown(pilot, "Clear 1 task of 1 run of sales?")
        assert "--downstream" not in pilot.app.screen.commands[0]
        assert any("report did not run because of" in line for line in lines_of(pilot.app))
        await pilot.press("u", "v")
        await until_shown(pilot, "--upstream --version run")
        await pilot.press("f")
        await until_shown(pilot, "--only-failed")
        await pilot.press("enter")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the end of the dialog")
        assert state_of_run(failed) == "failed"  # Cancel is the default
        await pilot.press("C")
        await until_shown(pilot, "Clear 2 tasks")
        await until(pilot, lambda: not pilot.app.screen.query_one("#do").disabled, "the button")
        await pilot.press("right", "enter")
        await until(pilot, lambda: state_of_run(failed) != "failed", "the cleared run")
        assert state_of_run(failed) == "queued"

    drive(make_app(of("load")), story)


def test_a_plan_that_holds_no_more_is_shown_anew(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "failed")
        await pilot.press("C", "f")
        await until_shown(pilot, "--only-failed")
        await until_shown(pilot, "Clear 2 tasks")
        failed.conn.execute(
            "update task_history set state = 'skipped' where task_id = 'report' and run_key ="
            " (select run_key from run where run_id = %s)",
            (RUN,),
        )
        await until(pilot, lambda: not pilot.app.screen.query_one("#do").disabled, "the button")
        await pilot.press("right", "enter")
        await until_shown(pilot, "not what was shown any more")
        await until_shown(pilot, "Clear 1 task")
        assert state_of_run(failed) == "failed"

    drive(make_app(of("load")), story)


def test_a_reason_is_given_for_what_cannot_be_done(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "upstream_failed")
        await pilot.press("tab", "X")
        await until_shown(pilot, "cancel run: the run has ended")

    drive(make_app(targets.run("sales", RUN)), story)


def test_the_key_that_ends_other_programs_tells_which_one_leaves(world: World, make_app) -> None:
    async def story(pilot) -> None:
        await pilot.press("ctrl+c")
        await until_shown(pilot, "f9 leaves")

    drive(make_app(FLOW_TUI_KEYS='{"app.quit": "f9"}'), story)


def test_a_backfill_is_planned_as_it_is_written(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "upstream_failed")
        await pilot.press("tab", "B")
        await until_shown(pilot, "from 2026-07-08T00:00:00+00:00")
        pilot.app.screen.query_one("#from").value = "2026-07-01"
        pilot.app.screen.query_one("#to").value = "2026-07-10"
        pilot.app.screen.query_one("#to").focus()
        await until_shown(pilot, "flow backfill sales --from 2026-07-01 --to 2026-07-10")
        await until_shown(pilot, "with 9 new runs and 1 run again?")
        pilot.app.screen.query_one("#most").value = "4"
        await until_shown(pilot, "--max-active-runs 4")
        await pilot.press("ctrl+y")
        assert pilot.app.clipboard.endswith("--max-active-runs 4 --reprocess all")
        await until_shown(pilot, "4 at a")
        await until(pilot, lambda: not pilot.app.screen.query_one("#do").disabled, "the button")
        await pilot.press("enter", "enter")
        await until(pilot, lambda: failed.rows("select from backfill"), "the backfill")

    drive(make_app(targets.run("sales", RUN)), story)


def test_a_small_terminal_has_room_for_the_question(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "try 1")
        for key, question in (("B", "Start a backfill of sales"), ("C", "Clear 2 tasks")):
            await pilot.press(key)
            await until_shown(pilot, question)
            await until_shown(pilot, "Cancel")
            await pilot.press("escape")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the end of the dialog")

    drive(make_app(of("load")), story, (80, 24))


def test_an_action_is_found_by_its_letters_and_run(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "failed")
        await pilot.press("question_mark", *"clea")
        await until_shown(pilot, "flow clear sales")
        await pilot.press("ctrl+y")
        assert pilot.app.clipboard.startswith("flow clear sales manual__")
        await pilot.press("enter")
        await until_shown(pilot, "Clear 2 tasks")
        await pilot.press("escape", "colon", *"sales")
        await until_shown(pilot, "open this DAG")

    drive(make_app(of("load")), story)


def test_why_answers_in_the_words_of_the_command(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "upstream_failed")
        await pilot.press("w")
        await until_shown(pilot, "flow why sales")
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.clipboard.startswith("flow why sales"), "the command")
        await pilot.press("escape")

    drive(make_app(targets.run("sales", RUN)), story)


def test_what_is_selected_is_put_into_as_few_commands_as_can_name_it() -> None:
    first, second = "manual__1", "manual__2"
    found = by_run(
        [
            targets.task("sales", first, "load"),
            targets.task("sales", second, "load"),
            targets.task("sales", second, "report"),
            targets.task("stock", first, "load"),
        ]
    )
    assert [(one.dag_id, one.run_ids, one.tasks) for one in found] == [
        ("sales", (first,), ("load",)),
        ("sales", (second,), ("load", "report")),
        ("stock", (first,), ("load",)),
    ]
    (both,) = by_run([targets.run("sales", first), targets.run("sales", second)])
    assert both.words == ("--where", f"run={first},{second}")


@pytest.mark.parametrize(
    ("held", "refused"), [(True, "task.hold"), (False, "task.release"), (None, None)]
)
def test_what_is_held_can_be_released_and_what_is_not_known_is_looked_at(
    held: bool | None, refused: str | None
) -> None:
    one = targets.task("sales", RUN, "load", "queued", held=held)
    for name in ("task.hold", "task.release"):
        assert (BY_ID[name].disabled([one], read_only=False) is None) is (name != refused)


def test_a_held_task_is_released_where_its_run_is_shown(world: World, make_app) -> None:
    world.define("sales")
    running.run(world.deployment, Wish("sales", date="2026-07-08"))
    holding.hold(world.deployment, "sales", Which(reference=RUN), "load")

    async def story(pilot) -> None:
        await until_shown(pilot, "load")
        await pilot.press("down", "L")
        await until_shown(pilot, "Release 1 task of sales/")
        await until(pilot, lambda: not pilot.app.screen.query_one("#do").disabled, "the button")
        await pilot.press("enter")
        await until(pilot, lambda: world.rows("select from task_hot where not held"), "the release")

    drive(make_app(targets.run("sales", RUN)), story)


def test_many_runs_are_changed_by_one_command(failed: World, make_app) -> None:
    running.run(failed.deployment, Wish("sales", date="2026-07-09"))
    other = "manual__2026-07-09T00:00:00+00:00"
    deeds = BY_ID["item.success"].make([targets.run("sales", RUN), targets.run("sales", other)])
    (deed,) = deeds
    assert deed.command == f"flow runs mark sales --where run={RUN},{other} success"
    deed.look(failed.deployment).carry_out(failed.deployment)
    assert {row[0] for row in failed.rows("select state from run where run_type = 'manual'")} == {
        "success"
    }


def test_keys_that_look_are_apart_from_keys_that_change() -> None:
    for action in ACTIONS:
        first = action.key.partition(",")[0]
        if action.danger is not Danger.NONE:
            assert first.isupper(), action.id
        elif first.isupper():
            assert first in ("N", "Z"), action.id  # the other direction of a small letter


def test_a_key_does_one_thing_for_one_kind_of_thing() -> None:
    for kind in Kind:
        keys: dict[str, str] = {}
        for action in ACTIONS:
            if kind in action.kinds:
                for key in action.key.split(","):
                    assert key not in keys, (action.id, keys.get(key))
                    keys[key] = action.id


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"item.cleer": "x"}, "an action that does not exist: item.cleer"),
        ({"item.clear": "X"}, "item.clear and run.cancel the same key"),
        ({"app.help": "q"}, "app.help and app.quit the same key"),
        ({"move.up": "up,w"}, "item.why and move.up the same key"),
        ({"move.first": "home"}, "grid.oldest and move.first the same key"),
    ],
)
def test_keys_that_cannot_be_are_refused(wanted: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Keymap.read(wanted)


def test_another_key_holds_everywhere(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "f6 clear")
        await pilot.press("f6")
        await until_shown(pilot, "Clear 2 tasks")

    drive(make_app(of("load"), FLOW_TUI_KEYS='{"item.clear": "f6"}'), story)


def test_a_key_that_another_one_gives_up_can_be_taken() -> None:
    assert Keymap.read({"move.up": "up,c", "item.why": "k"}).keys["item.why"] == "k"


def test_the_cursor_moves_by_other_keys(failed: World, make_app) -> None:
    async def story(pilot) -> None:
        await pilot.press("2")
        await until_shown(pilot, "zebra")
        table = pilot.app.screen.query_one(Table)
        await pilot.press("t")
        assert table.at == 1
        await pilot.press("j", "k")
        assert table.at == 1

    failed.define("zebra", file="/dags/two.py")
    drive(make_app(FLOW_TUI_KEYS='{"move.down": "t", "move.up": "c"}'), story)
