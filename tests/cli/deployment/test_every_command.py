"""What holds for every command: JSON or nothing on stdout, errors by the table, quiet pipes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from operations_world import World

LISTS = [
    ("dags", "list"),
    ("dags", "errors"),
    ("dags", "warnings"),
    ("runs", "list"),
    ("backfills", "list"),
    ("pools", "list"),
    ("vars", "list"),
    ("conns", "list"),
    ("db", "check"),
]
MISSING = [
    ("dags", "show", "nope"),
    ("dags", "next", "nope"),
    ("dags", "pause", "nope"),
    ("dags", "delete", "nope", "--yes"),
    ("dags", "diff", "nope"),
    ("dags", "errors", "nope.py"),
    ("dags", "warnings", "nope.py"),
    ("dags", "versions", "nope"),
    ("run", "nope"),
    ("runs", "list", "nope"),
    ("runs", "show", "nope", "latest"),
    ("runs", "cancel", "nope", "latest", "--yes"),
    ("runs", "delete", "nope", "latest", "--yes"),
    ("tasks", "list", "nope", "latest"),
    ("tasks", "mark", "nope", "latest", "a", "success", "--yes"),
    ("clear", "nope", "latest", "--yes"),
    ("backfill", "nope", "--from", "2026-07-01", "--yes"),
    ("backfills", "list", "nope"),
    ("backfills", "show"),
    ("backfills", "show", "7"),
    ("backfills", "pause", "7"),
    ("backfills", "resume", "7"),
    ("backfills", "cancel", "7", "--yes"),
    ("why", "nope"),
    ("grid", "nope"),
    ("graph", "nope"),
    ("compare", "nope"),
    ("xcom", "list", "nope", "latest"),
    ("pools", "delete", "nope", "--yes"),
    ("pools", "show", "nope"),
    ("vars", "get", "nope"),
    ("vars", "delete", "nope", "--yes"),
    ("conns", "get", "nope"),
    ("conns", "delete", "nope", "--yes"),
    ("conns", "test", "nope"),
]
WRONG = [
    ("run", "sales", "--conf", "[]"),
    ("run", "sales", "--run-id", "../../x"),
    ("run", "sales", "--date", "2026-07-09", "--interval", "2026-07-09", "2026-07-10"),
    ("run", "sales", "--date", "yesteryear"),
    ("run", "sales", "--conf", "@nope.json"),
    ("clear", "sales"),
    ("dags", "diff", "sales"),
    ("runs", "cancel", "sales"),
    ("runs", "delete", "sales"),
    ("clear", "sales", "latest", "--from", "2026-07-01"),
    ("clear", "sales", "latest", "--only-failed", "--state", "failed"),
    ("backfill", "sales"),
    ("backfill", "sales", "--from", "2026-07-01", "--yes"),
    ("backfill", "sales", "--from", "soon"),
    ("backfills", "show", "seven"),
    ("pools", "set", "a/b", "1"),
    ("pools", "set", "a", "--", "-2"),
    ("pools", "delete", "default_pool", "--yes"),
    ("vars", "set", "a"),
    ("vars", "set", "a", "b", "--from-file", "c"),
    ("vars", "import", "nope.json"),
    ("conns", "add", "a"),
    ("conns", "add", "a", "--uri", "x://h", "--host", "h"),
    ("conns", "add", "a", "--uri", "s3://key:secret/with/slash@b"),
    ("conns", "add", "../a", "--type", "http"),
    ("runs", "list", "--from", "soon"),
    ("runs", "list", "--state", "bogus"),
    ("runs", "list", "--type", "bogus"),
    ("runs", "cancel", "sales", "--where", "state=bogus", "--yes"),
    ("runs", "delete", "sales", "--where", "state=bogus", "--yes"),
    ("runs", "mark", "sales", "failed", "--where", "state=bogus", "--yes"),
    ("runs", "pause", "sales", "--where", "state=bogus", "--yes"),
    ("runs", "resume", "sales", "--where", "state=bogus", "--yes"),
    ("tasks", "mark", "sales", "extract", "failed", "--where", "type=bogus", "--yes"),
    ("tasks", "hold", "sales", "extract", "--where", "state=bogus", "--yes"),
    ("tasks", "release", "sales", "extract", "--where", "state=bogus", "--yes"),
    ("clear", "sales", "--where", "task.state=bogus", "--yes"),
    ("clear", "sales", "latest", "--state", "bogus", "--yes"),
    ("dags", "next", "sales", "--from", "soon"),
    ("dags", "next", "sales", "-n", "0"),
]


def error_of(text: str) -> dict[str, str]:
    error: dict[str, str] = json.loads(text)["error"]
    assert list(error) == ["code", "message", "hint"]
    assert "Traceback" not in text
    return error


@pytest.mark.usefixtures("world")
def test_lists_of_an_empty_deployment_are_json_too(flow):
    for arguments in LISTS:
        ended = flow(*arguments, "-o", "json")
        assert ended.code == 0, ended.err
        assert isinstance(json.loads(ended.out), list)
        assert "\x1b" not in ended.out
        assert flow(*arguments, "-o", "jsonl").code == 0


@pytest.mark.usefixtures("world")
def test_what_is_missing_is_exit_3(flow):
    for arguments in MISSING:
        ended = flow(*arguments, "-o", "json")
        assert (ended.code, ended.out) == (3, ""), arguments
        assert error_of(ended.err)["code"] == "not_found"
        for_people = flow(*arguments)
        assert (for_people.code, for_people.out) == (3, "")
        assert 1 <= len(for_people.err.splitlines()) <= 2


def test_what_is_wrong_or_refused_is_exit_2_and_changes_nothing(world: World, flow):
    world.define("sales")
    for arguments in WRONG:
        front, dashes, rest = arguments, (), ()
        if "--" in arguments:
            at = arguments.index("--")
            front, dashes, rest = arguments[:at], ("--",), arguments[at + 1 :]
        ended = flow(*front, "-o", "json", *dashes, *rest)
        assert (ended.code, ended.out) == (2, ""), (arguments, ended.err)
        assert "secret" not in error_of(ended.err)["message"]
    tables = ("run", "variable", "connection", "audit")
    assert [world.value(f"select count(*) from {table}") for table in tables] == [0] * 4


@pytest.mark.usefixtures("world")
def test_bytes_that_are_no_text_are_wrong_usage(flow):
    for arguments in (("dags", "show", "a\udcff"), ("vars", "set", "a", "\udcff")):
        ended = flow(*arguments)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == "the command line is not UTF-8 text\n"


def test_a_database_that_is_down_or_empty_is_exit_5(server, environment, flow):
    environment["FLOW_DATABASE_URL"] = "postgresql://flow:hunter2@127.0.0.1:1/flow"
    for arguments in [*LISTS, ("status",), ("db", "status"), ("db", "migrate"), ("run", "x")]:
        ended = flow(*arguments, "-o", "json")
        assert (ended.code, ended.out) == (5, ""), arguments
        assert error_of(ended.err)["code"] == "database"
        assert "hunter2" not in ended.err
    name = server.create("template1")
    try:
        host = server.embedded.socket_directory
        environment["FLOW_DATABASE_URL"] = f"postgresql://flow@/{name}?host={host}"
        ended = flow("dags", "list")
        assert (ended.code, ended.out) == (5, "")
        assert ended.err == "the database has no Flow schema yet\nrun `flow db migrate`\n"
        stands = flow("db", "status", "-o", "json")
        assert (stands.code, json.loads(stands.out)["revision"]) == (5, None)
        assert flow("db", "migrate").out == "the schema went from nothing to 0001\n"
        assert flow("db", "migrate").out == "the schema is at 0001 already\n"
        assert flow("db", "status").code == 0
    finally:
        server.drop(name)


def test_without_any_database_it_says_how_to_make_one(flow):
    ended = flow("dags", "list")
    assert ended.code == 5
    assert ended.err.startswith("there is no database yet")
    assert "flow db migrate" in ended.err


def test_a_reader_that_leaves_ends_the_command_quietly(world: World, environment, project):
    for number in range(300):
        world.define(f"dag_{number:03}_{'x' * 200}", {"a": ()}, file=f"/dags/{number}.py")
    command = f"{sys.executable} -m flow_cli dags list --all | head -1"
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 141
    assert ended.stderr == ""
    assert ended.stdout.startswith("DAG ")


def test_long_ids_are_whole_in_a_pipe_and_the_rest_is_counted(world: World, flow):
    long_id = "d" * 250
    world.define(long_id)
    world.define("other", file="/dags/other.py")
    ended = flow("dags", "list", "--limit", "1", COLUMNS="40")
    assert long_id in ended.out
    assert ended.err == "showing 1 of 2 DAGs; --all shows every one\n"
    assert len(json.loads(flow("dags", "list", "--all", "-o", "json").out)) == 2


FRESH = "update process set heartbeat_at = now() + interval '1 hour'"
"""No heartbeat is missed, however long the command takes."""


def test_status_says_what_is_wrong_and_exits_1(world: World, flow):
    world.conn.execute(FRESH)
    ended = flow("status", "-o", "json")
    assert ended.code == 1
    status = json.loads(ended.out)
    assert list(status) == [
        *("roles", "queue", "wakeups", "pools", "database", "problems", "warnings")
    ]
    (role,) = status["roles"]
    assert list(role) == [
        *("role", "host", "pid", "started_at", "heartbeat_age_s", "slots", "healthy")
    ]
    assert (role["role"], role["slots"]) == ("work", 16)
    assert list(status["queue"]) == ["queued", "scheduled", "oldest_queued_s"]
    assert list(status["wakeups"]) == ["due", "oldest_s"]
    assert list(status["database"]) == ["version", "migrated", "size_bytes"]
    for_people = flow("status")
    assert for_people.out.splitlines()[1].endswith("  healthy  16 slots")
    assert for_people.err == "".join(f"{problem}\n" for problem in status["problems"])
    world.conn.execute(
        """insert into process (role, host, pid, version, lost_after)
           values ('parse', 'here', 1, 'test', 300), ('schedule', 'here', 2, 'test', 300)"""
    )
    world.conn.execute(FRESH)
    assert flow("status").code == 0


def test_the_check_exits_1_and_names_what_is_broken(world: World, flow):
    world.define("sales")
    flow("run", "sales", "--run-id", "it")
    world.schedule()
    assert flow("db", "check").err == "everything holds\n"
    world.conn.execute("update task_hot set state = 'none'")
    ended = flow("db", "check")
    assert (ended.code, ended.out) == (
        1,
        "NO  SUBJECT   DETAIL\n"
        " 1  sales/it  running, without a wake-up and without a task that anybody owns\n",
    )
    assert ended.err == (
        "broken: 1. every unfinished run has a wake-up or a task that somebody owns\n"
    )


def test_the_shell_has_no_login_in_its_arguments_or_environment(world: World, environment, flow):
    environment["FLOW_DATABASE_URL"] += "&password=hunter2"
    secrets = flow("db", "shell", "-c", r"\! cat /proc/$PPID/cmdline /proc/$PPID/environ")
    assert secrets.code == 0, secrets.err
    assert "psql" in secrets.out
    for hidden in ("hunter2", "FLOW_DATABASE_URL", str(world.value("select current_database()"))):
        assert hidden not in secrets.out
    database = flow("db", "shell", "-c", "select current_database()")
    assert str(world.value("select current_database()")) in database.out
