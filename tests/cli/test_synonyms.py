"""What is written instead of the commands and options of other tools."""

from __future__ import annotations

import pytest

from flow_cli import synonyms
from flow_cli.application import root
from flow_cli.tree import pages

COMMANDS = {page.path.removeprefix("flow").strip(): page for page in pages(root())}


@pytest.mark.parametrize("typed", synonyms.COMMANDS)
def test_a_command_of_another_tool_leads_to_one_that_is_there(typed):
    assert typed not in COMMANDS
    _, *words = synonyms.COMMANDS[typed].partition(",")[0].split()
    named = [word for word in words if word.islower() and not word.startswith("-")]
    assert " ".join(named) in COMMANDS


def test_an_option_of_another_tool_leads_to_one_of_the_command():
    there = {name for page in COMMANDS.values() for word in page.words for name in word.names}
    assert set(synonyms.OPTIONS.values()) <= there
    assert not there & {typed for typed in synonyms.OPTIONS if typed.startswith("--")}
    assert synonyms.option("--start-date", {"--from"}) == "--from"
    assert synonyms.option("--start-date", {"--since"}) is None
