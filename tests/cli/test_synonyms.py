"""What is written instead of the commands and options of other tools."""

from __future__ import annotations

import re

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


@pytest.mark.parametrize("typed", synonyms.ADVICE)
def test_what_flow_lacks_is_said_with_verbs_that_are_there(typed):
    assert typed not in {*COMMANDS, *synonyms.COMMANDS}
    for named in re.findall(r"(?:^|: |by )flow ([a-z]+(?: [a-z]+)?)", synonyms.ADVICE[typed]):
        assert named in COMMANDS


def test_an_option_of_another_tool_leads_to_one_of_the_command():
    there = {name for page in COMMANDS.values() for word in page.words for name in word.names}
    assert there.issuperset({"--date", *synonyms.ARGUMENTS.values()})
    assert {written for _, written in synonyms.OPTIONS} <= there
    own = {"--limit"}  # of lists; elsewhere it is what another option says
    assert there & {typed for typed, _ in synonyms.OPTIONS if typed.startswith("--")} == own
    assert synonyms.option("--start-date", {"--from"}) == "--from"
    assert synonyms.option("-e", {"--from", "--to"}) == "--to"
    assert synonyms.option("-e", {"--date"}) == "--date"
    assert synonyms.option("--start-date", {"--since"}) is None
