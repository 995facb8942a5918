"""Help pages: complete, cheap, and readable in a pipe and on a terminal."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from typer.core import TyperGroup

from flow_cli.application import root
from flow_cli.catalogue import ENTRIES, Entry, Panel, in_panel_order
from flow_cli.pages import Command, Group
from flow_cli.tree import Page, pages

PAGES = pages(root())
HEAVY = ("psycopg", "sqlalchemy", "alembic", "textual", "pydantic", "msgspec", "pendulum", "rich")

TOP = """\
Usage: flow [OPTIONS] COMMAND [ARGS]...

  Schedule and run data pipelines written as Python graphs.

Options:
  --config FILE      Settings file, instead of the nearest flow.toml. Also:
                     FLOW_CONFIG.
  --deployment NAME  Table [deployment.NAME] of the settings file to use.
                     Also: FLOW_DEPLOYMENT.
  --debug            Show the traceback of an error.
  --version          Print the version and exit.
  -h, --help         Show this message and exit.
"""


def modules_after(*arguments: str) -> set[str]:
    program = (
        "import sys; from flow_cli.application import main; main(sys.argv[1:]);"
        " sys.stderr.write(' '.join(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return set(ended.stderr.split())


def without_styles(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def test_top_page_begins_with_global_options_and_then_has_the_panels(flow):
    ended = flow("--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(TOP)
    shown = [line.removesuffix(":") for line in ended.out.splitlines() if line[:1].isalpha()]
    panels = [panel for panel in Panel if any(entry.panel is panel for entry in ENTRIES)]
    assert shown[2:] == [*panels, "Examples"]


def test_every_command_is_listed_with_its_summary(flow):
    listed = " ".join(flow("--help").out.split())
    for entry in ENTRIES:
        assert f" {entry.name} {entry.summary} " in listed


def test_the_table_says_of_a_command_what_its_own_page_says():
    summaries = {page.path: page.summary for page in PAGES}
    assert [entry.summary for entry in ENTRIES] == [
        summaries[f"flow {entry.name}"] for entry in ENTRIES
    ]


def test_panels_keep_the_order_of_the_contract():
    entries = tuple(Entry(panel.name, "", panel, "") for panel in reversed(Panel))
    assert [entry.panel for entry in in_panel_order(entries)] == [
        "Start here", "Roles", "Pipelines", "Repair", "CI", "Settings", "Operations"
    ]  # fmt: skip


@pytest.mark.parametrize("arguments", [["--help"], ["config", "get", "home"]], ids=" ".join)
def test_a_short_command_loads_nothing_heavy(arguments):
    loaded = modules_after(*arguments)
    assert "flow_cli.application" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_help_of_the_top_level_imports_no_command():
    assert [name for name in modules_after("--help") if name.startswith("flow_cli.commands.")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_page_has_a_text_and_examples_of_existing_commands(page: Page):
    assert page.summary.endswith(".")
    assert page.examples
    paths = {each.path for each in PAGES}
    for example in page.examples:
        words = [word for word in example.split(" > ")[0].split() if not word.startswith("-")]
        assert any(" ".join(words[:length]) in paths for length in (3, 2)) or "test" in words
    for word in page.words:
        assert word.help.endswith(".")


def test_every_command_is_of_our_own_class():
    def check(command):
        assert isinstance(command, Group if isinstance(command, TyperGroup) else Command)
        for child in getattr(command, "commands", {}).values():
            check(child)

    check(root())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_page_in_a_pipe_is_plain_and_ends_with_the_examples(flow, page: Page):
    colours = {"FORCE_COLOR": "1", "GITHUB_ACTIONS": "true", "COLUMNS": "40"}
    ended = flow(*page.path.split()[1:], "--help", **colours)
    assert ended.code == 0
    assert "\x1b" not in ended.out
    assert [line.strip() for line in ended.out.splitlines()[-len(page.examples) :]] == list(
        page.examples
    )


def test_page_on_a_terminal_shows_brackets_and_examples(on_terminal):
    text = without_styles(on_terminal("--help").out)
    assert "[deployment.NAME]" in text
    assert "╭─ Start here" in text
    assert text.rstrip().endswith("flow config show -o json")


def test_page_on_a_terminal_without_colours_is_that_of_a_pipe(flow, on_terminal):
    assert on_terminal("--help", NO_COLOR="1").out == flow("--help").out


def test_a_group_without_a_command_shows_its_page_and_is_wrong_usage(flow, on_terminal):
    assert flow().out == flow("--help").out
    assert flow().code == 2
    assert flow("config").out == flow("config", "--help").out
    assert flow("config").code == 2
    assert on_terminal("config").out == on_terminal("config", "--help").out.removesuffix("\n")
