"""The `flow` commands that are told for what can be done, on every screen."""

from __future__ import annotations

import re
import shlex

import pytest
from driving import drive, until_shown
from test_screens import SCREENS

from flow_cli.application import root
from flow_cli.tree import Page, pages
from flow_tui import targets
from flow_tui.actions import ACTIONS, BY_ID
from flow_tui.targets import Kind, Target
from flow_tui.view import View

PAGES = {page.path: page for page in pages(root())}
HERE_ONLY = {
    "app.back",
    "app.filter",
    "app.help",
    "app.palette",
    "app.refresh",
    "app.quit",
    "app.suspend",
    "mark.toggle",
    "mark.range",
    "mark.none",
    "pane.next",
    "pane.previous",
    "log.older",
    "log.newer",
    "log.wrap",
    "log.search",
    "log.next",
    "log.previous",
    "grid.fold",
    "grid.fold_all",
}
"""What moves through the terminal UI, and is nothing to anybody else."""
ELSEWHERE = HERE_ONLY | {"app.copy", "app.open"}
"""Those, and what depends on the screen."""
RUN = "manual__2026-07-08T00:00:00+00:00"
THINGS = (
    targets.dag("sales"),
    targets.run("sales", RUN, "failed"),
    targets.task("sales", RUN, "load", "failed"),
    Target(Kind.BACKFILL, ("1",)),
)


def page_of(command: str) -> tuple[Page, list[str]]:
    """The help page of a command, and the words that follow its name."""
    words = shlex.split(command)
    length = next(length for length in (3, 2) if " ".join(words[:length]) in PAGES)
    return PAGES[" ".join(words[:length])], words[length:]


def assert_can_be_written(command: str) -> None:
    """A verb that there is, with options that it has and placeholders of its own usage."""
    page, words = page_of(command)
    assert not page.commands, f"{command} names no verb"
    options = {name for option in page.options for name in option.names}
    assert {word for word in words if word.startswith("-")} <= options, command
    names = set(re.findall(r"[A-Z]{2,}", page.usage))
    names |= {option.metavar for option in page.options}
    assert {word for word in words if word.isupper()} <= names | {"TASK"}, command


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_an_action_tells_its_command_whatever_it_acts_on(action) -> None:
    known = [[one] for one in THINGS if one.kind in action.kinds]
    unknown = [[targets.placeholder(kind)] for kind in sorted(action.kinds)]
    for chosen in [*known, *unknown] or [[]]:
        commands = action.commands(chosen)
        assert bool(commands) is (action.id not in ELSEWHERE), action.id
        for command in commands:
            assert_can_be_written(command)
            assert not chosen or chosen[0].words[0] in shlex.split(command)


def test_only_what_looks_has_no_command() -> None:
    assert not [name for name in ELSEWHERE if BY_ID[name].changes]


@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_that_a_screen_offers_has_no_command(screen: type[View], monkeypatch) -> None:
    """Also where nothing is under the cursor, so that nothing can be named."""
    monkeypatch.setattr(screen, "targets_of", lambda self, action: ())
    monkeypatch.setattr(screen, "command", "flow status")
    shown = screen.__new__(screen)
    for action in screen.actions():
        commands = View.commands_of(shown, action)
        assert bool(commands) is (action.id not in HERE_ONLY | {"app.open"}), action.id


@pytest.mark.parametrize(
    "target",
    [*THINGS, Target(Kind.POOL, ("warehouse",)), Target(Kind.FILE, ("/dags/prices.py",))],
    ids=lambda target: target.kind,
)
def test_what_opens_a_thing_tells_what_prints_it(target: Target) -> None:
    (command,) = BY_ID["app.open"].commands([target, target])
    assert_can_be_written(command)
    assert shlex.split(command)[-1] == target.words[-1]


def test_the_keys_tell_the_command_of_a_backfill(failed, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "upstream_failed")
        await pilot.press("question_mark", *"backfill")
        await until_shown(pilot, "flow backfill sales --from DATE --to DATE -t extract")
        await pilot.press("ctrl+y")
        assert pilot.app.clipboard.startswith("flow backfill sales --from DATE --to DATE")

    drive(make_app(targets.run("sales", RUN)), story, (80, 24))


def test_a_backfill_is_of_one_dag() -> None:
    action = BY_ID["dag.backfill"]
    chosen = [targets.dag("sales"), targets.dag("stock")]
    assert action.disabled(chosen, read_only=False) == "one DAG at a time"
    assert action.disabled([targets.run("sales", RUN)] * 2, read_only=False) is None
