"""`flow config`, as typed."""

from __future__ import annotations

import json

import pytest

from flow.settings import TABLE


@pytest.fixture
def settings_file(project):
    file = project / "flow.toml"
    file.write_text(
        'database.url = "postgresql://u:p@ss@h/db?sslpassword=x&a=b"\nworker.slots = 3\n'
    )
    return file


def test_show_lists_every_setting_with_its_origin(flow, settings_file, environment):
    ended = flow("config", "show")
    assert (ended.code, ended.err) == (0, "")
    heading, *lines = ended.out.splitlines()
    assert heading.split() == ["KEY", "VALUE", "FROM"]
    rows = [line.split() for line in lines]
    assert [row[0] for row in rows] == list(TABLE)
    assert ["home", environment["FLOW_HOME"], "FLOW_HOME"] in rows
    assert ["worker.slots", "3", str(settings_file)] in rows
    assert ["worker.lost_after", "300", "default"] in rows


def test_show_as_json_and_jsonl_are_the_same_rows(flow, settings_file):
    document = json.loads(flow("config", "show", "-o", "json").out)
    lines = flow("config", "show", "-o", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == document
    assert [row["key"] for row in document] == list(TABLE)
    slots = next(row for row in document if row["key"] == "worker.slots")
    assert slots == {"key": "worker.slots", "value": 3, "origin": str(settings_file)}


def test_passwords_are_hidden_unless_asked_for(flow, settings_file):
    assert "p@ss" not in flow("config", "show").out
    hidden = flow("config", "get", "database.url")
    assert hidden.out == "postgresql://u:***@h/db?sslpassword=***&a=b\n"
    shown = flow("config", "get", "database.url", "--reveal")
    assert shown.out == "postgresql://u:p@ss@h/db?sslpassword=x&a=b\n"


def test_values_of_secret_tables_are_hidden_unless_asked_for(flow, project):
    (project / "flow.toml").write_text("[test.connections]\nshop = 'postgres://u:p%40ss@h/d'\n")
    assert "p%40ss" not in flow("config", "show", "-o", "json").out
    hidden = flow("config", "get", "test.connections", "-o", "json")
    assert json.loads(hidden.out)["value"] == {"shop": "***"}
    assert "p%40ss" in flow("config", "get", "test.connections", "--reveal").out


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("worker.slots", "16"),
        ("worker.heartbeat", "5"),
        ("dags.paused_at_creation", "true"),
        ("worker.queues", "default"),
        ("worker.task_user", ""),
    ],
)
def test_get_prints_what_an_environment_variable_would_hold(flow, key, text):
    ended = flow("config", "get", key)
    assert (ended.code, ended.out, ended.err) == (0, f"{text}\n", "")


def test_tables_are_printed_as_an_environment_variable_would_hold_them(flow, project):
    (project / "flow.toml").write_text(
        "[test]\npools = { a = 2, b = 1 }\nvariables = { c = [1] }\n"
    )
    pools = flow("config", "get", "test.pools").out.strip()
    assert pools == "a=2,b=1"
    variables = flow("config", "get", "test.variables", "--reveal").out.strip()
    got = flow("config", "get", "test.variables", "--reveal", FLOW_TEST_VARIABLES=variables)
    assert got.out.strip() == variables == '{"c": [1]}'


def test_get_as_json(flow):
    assert json.loads(flow("config", "get", "worker.task_user", "-o", "json").out) == {
        "key": "worker.task_user",
        "value": None,
        "origin": "default",
    }


def test_a_broken_file_is_wrong_usage(flow, settings_file):
    settings_file.write_text("worker.slot = 3\n")
    ended = flow("config", "show", "-o", "json")
    assert (ended.code, ended.out) == (2, "")
    assert json.loads(ended.err)["error"] == {
        "code": "config",
        "message": f"{settings_file}: there is no setting worker.slot",
        "hint": "Did you mean worker.slots?",
    }


def test_show_on_a_narrow_terminal_loses_nothing(on_terminal, settings_file):
    ended = on_terminal("config", "show", columns=40, NO_COLOR="1")
    assert ended.code == 0
    assert all(len(line) <= 40 for line in ended.out.splitlines())
    assert "".join(ended.out.split()).count("scheduler.sweep_interval") == 1
