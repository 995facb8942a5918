"""What is read from the command line before it is parsed."""

from __future__ import annotations

import pytest

from flow_cli.arguments import (
    DeploymentChoice,
    globals_first,
    split_deployment,
    wants_debug,
    wants_json,
)


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("runs list", "runs list"),
        ("runs list --deployment test -n 3", "--deployment test runs list -n 3"),
        ("--config a.toml runs list", "--config a.toml runs list"),
        ("runs list --config=a.toml --debug", "--config=a.toml --debug runs list"),
        ("run -- --debug", "run -- --debug"),
        ("logs a b --grep=--debug", "logs a b --grep=--debug"),
        ("runs list --deployment", "--deployment runs list"),
    ],
)
def test_global_options_are_moved_before_the_command(line, moved):
    assert globals_first(line.split()) == moved.split()


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("runs list", False),
        ("runs list -o json", True),
        ("runs list -ojsonl", True),
        ("runs list -o=json", True),
        ("runs list --output json", True),
        ("runs list --output=json", True),
        ("runs list -o text", False),
        ("runs list -o json -o text", False),
        ("runs list -o", False),
        ("run -- -o json", False),
    ],
)
def test_json_is_recognised(line, asked):
    assert wants_json(line.split()) is asked


def test_debug_counts_only_as_an_option():
    assert wants_debug(["runs", "--debug"])
    assert not wants_debug(["run", "--", "--debug"])


def test_a_global_option_works_behind_the_command(flow, project):
    (project / "flow.toml").write_text("[deployment.test.worker]\nslots = 3\n")
    before = flow("--deployment", "test", "config", "get", "worker.slots")
    behind = flow("config", "get", "worker.slots", "--deployment", "test")
    assert before == behind
    assert (behind.code, behind.out) == (0, "3\n")


def test_a_condition_beside_another_one_is_not_dropped_but_refused(flow, project):
    ended = flow("clear", "sales", "--where", "state=failed", "--where", "try_number>=2", "--yes")
    assert ended.code == 2
    assert ended.err == (
        "--where is given more than once\nJoin conditions: --where 'state=failed and dag~a*'\n"
    )


@pytest.mark.parametrize(
    ("line", "words", "rest"),
    [
        ("dag sal", "", "dag sal"),
        ("--deployment test dag sal", "--deployment test", "dag sal"),
        ("--config=a.toml --deployment=test run x", "--config a.toml --deployment test", "run x"),
        ("dag --config", "", "dag --config"),
    ],
)
def test_the_deployment_stands_before_the_rest(line, words, rest):
    chosen, left = split_deployment(line.split())
    assert (list(chosen.words), left) == (words.split(), rest.split())
    assert split_deployment([*chosen.words, *left]) == (chosen, left)


def test_no_deployment_needs_no_words():
    assert DeploymentChoice().words == ()
