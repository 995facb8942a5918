"""Errors: two lines or one JSON object, the right exit code, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from flow.errors import Conflict, DatabaseError, FlowError, NotFound, UsageError
from flow_cli import application
from flow_cli.failures import failure_of
from flow_cli.main import run

COMMAND = [sys.executable, "-m", "flow_cli"]

WRONG = {
    ("demmo",): "No such command 'demmo'. Did you mean 'demo'?\nSee: flow --help\n",
    ("config", "shwo"): "No such command 'shwo'. Did you mean 'show'?\nSee: flow config --help\n",
    ("config", "show", "--all-of-it"): (
        "No such option: --all-of-it\nSee: flow config show --help\n"
    ),
    ("config", "get"): (
        "Missing argument 'KEY'.\nWrite: flow config get KEY (see: flow config get --help)\n"
    ),
    ("backfill", "sales"): (
        "Missing option '--from'.\n"
        "Write: flow backfill DAG --from DATE (see: flow backfill --help)\n"
    ),
    ("runs", "show", "sales", "latest", "more"): (
        "unexpected argument: more\nWrite: flow runs show DAG RUN (see: flow runs show --help)\n"
    ),
    ("run", "sales", "yesterday"): (
        "unexpected argument: yesterday\nA date goes behind --date: flow run … --date yesterday\n"
    ),
    ("backfill", "sales", "--from", "-9d", "-2d"): (
        "No such option: -2\nA date like -2d goes behind --from, or at the end behind --\n"
    ),
    ("why", "sales", "-2d"): "No such option: -2\nA date like -2d goes behind --\n",
    ("clear", "sales", "latest", "load"): (
        "unexpected argument: load\nTasks go behind -t: flow clear … -t load\n"
    ),
    ("dags", "trigger", "sales"): "No such command 'trigger'.\nWrite: flow run DAG\n",
    ("backfill", "sales", "-s", "2026-10-09"): (
        "No such option: -s\nWrite: --from (see: flow backfill --help)\n"
    ),
    ("xcom", "get", "sales", "latest", "load", "total"): (
        "unexpected argument: total\nA key goes behind --key: flow xcom get … --key total\n"
    ),
    ("conns", "add", "shop", "postgresql://shop"): (
        "unexpected argument: postgresql://shop\n"
        "A URI goes behind --uri: flow conns add … --uri postgresql://shop\n"
    ),
    ("runs", "list", "--limit", "2147483648"): (
        "Invalid value for '--limit': 2147483648 is a larger number than Flow can keep\n"
        "See: flow runs list --help\n"
    ),
    ("work", "--queues", ""): (
        "--queues '' has an empty name\n"
        "write names with commas between them, such as --queues default,gpu; without --queues "
        "the worker serves those of worker.queues\n"
    ),
    ("work", "--queues", "a, ,b"): (
        "--queues 'a, ,b' has an empty name\n"
        "write names with commas between them, such as --queues default,gpu; without --queues "
        "the worker serves those of worker.queues\n"
    ),
    ("work", "--once", "--slots", "0"): (
        "--once with no slots runs nothing, and would never be done\ngive it slots: --slots 1\n"
    ),
    ("work", "--slots", "8..4"): (
        "--slots 8..4 is no number of slots\n"
        "write --slots 8, or --slots 4..16 for at least 4, and up to 16 while the host has CPU and "
        "memory to spare\n"
    ),
    ("up", "--slots", "many"): (
        "--slots many is no number of slots\n"
        "write --slots 8, or --slots 4..16 for at least 4, and up to 16 while the host has CPU and "
        "memory to spare\n"
    ),
    ("config", "show", "-o", "yaml"): (
        "Invalid value for '-o' / '--output': 'yaml' is none of: text, json, jsonl\n"
        "Write: -o json (see: flow config show --help)\n"
    ),
    ("backfill", "sales", "--from", "2026-10-09", "--reprocess", "table"): (
        "Invalid value for '--reprocess': 'table' is none of: none, failed, all\n"
        "See: flow backfill --help\n"
    ),
    ("backfill", "list"): "No such command 'list'.\nWrite: flow backfills list\n",
    ("backfill", "create", "--dag-id", "sales", "--from-date", "2026-10-09"): (
        "No such command 'create'.\nWrite: flow backfill DAG --from DATE --to DATE\n"
    ),
    ("backfill", "create", "sales", "--from", "2026-10-09"): (
        "No such command 'create'.\nWrite: flow backfill DAG --from DATE --to DATE\n"
    ),
    ("backfill", "create", "--bad"): "No such option: --bad\nSee: flow backfill --help\n",
    ("dags", "show", "--save", "x"): "No such option: --save\nWrite: flow graph DAG --dot\n",
    ("users",): (
        "No such command 'users'.\n"
        "Flow has no accounts: who can reach its database can do everything\n"
    ),
    ("datasets",): (
        "No such command 'datasets'.\n"
        "There are no assets yet: flow-airflow(7) says what to write instead\n"
    ),
    ("runs", "list", "-d", "sales"): (
        "No such option: -d\n"
        "DAG is an argument: flow runs list [DAG] (see: flow runs list --help)\n"
    ),
    ("clear", "sales", "--start-date", "2026-10-09"): (
        "No such option: --start-date\nWrite: --from (see: flow clear --help)\n"
    ),
    ("clear", "sales", "--were", "state=failed"): (
        "No such option: --were (Possible options: --where)\nSee: flow clear --help\n"
    ),
    ("events", "--where", "dag=sales"): ("No such option: --where\nSee: flow events --help\n"),
    ("grid", "sales", "--limit", "3"): (
        "No such option: --limit\nWrite: -n (see: flow grid --help)\n"
    ),
    ("dags", "show", "sales", "--save", "a.png"): (
        "No such option: --save\nWrite: flow graph DAG --dot\n"
    ),
    ("run", "sales", "-v"): "No such option: -v\nWrite: --debug (see: flow run --help)\n",
    ("pools", "set", "api", "3", "of the shop"): (
        "unexpected argument: of the shop\n"
        "Words about it go behind --description: flow pools set … --description 'TEXT'\n"
    ),
    ("tasks", "list", "sales"): (
        "Missing argument 'RUN'.\n"
        "Write: flow tasks list DAG RUN; the tasks of a DAG without a run: flow graph DAG "
        "(see: flow tasks list --help)\n"
    ),
}


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_usage_is_two_lines_and_exit_code_2(flow, arguments):
    ended = flow(*arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", WRONG[arguments])


@pytest.mark.parametrize("form", [["-o", "json"], ["-ojson"], ["--output=jsonl"]], ids=" ".join)
def test_under_json_wrong_usage_is_an_object_on_stderr(flow, form):
    ended = flow("config", "show", *form, "--all-of-it")
    assert (ended.code, ended.out) == (2, "")
    assert json.loads(ended.err) == {
        "error": {
            "code": "usage",
            "message": "No such option: --all-of-it",
            "hint": "See: flow config show --help",
        }
    }


def test_an_error_of_flow_has_its_own_code(flow):
    ended = flow("config", "get", "worker.slot")
    expected = "there is no setting worker.slot\nDid you mean worker.slots?\n"
    assert (ended.code, ended.out, ended.err) == (3, "", expected)
    ended = flow("config", "get", "worker.slot", "-o", "json")
    assert (ended.code, ended.out) == (3, "")
    assert json.loads(ended.err)["error"] == {
        "code": "not_found",
        "message": "there is no setting worker.slot",
        "hint": "Did you mean worker.slots?",
    }


def test_what_was_typed_cannot_steer_the_terminal(flow):
    ended = flow("config", "get", "a\x1b[31m\nb")
    assert ended.err == (
        "there is no setting a\\x1b[31m\\nb\nflow config show lists every setting.\n"
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_an_error_is_json_in_every_encoding(flow, encoding):
    ended = flow("config", "get", "é数据😀", "-o", "json", PYTHONIOENCODING=encoding)
    assert json.loads(ended.err)["error"]["message"] == "there is no setting é数据😀"


def test_debug_shows_the_traceback_and_the_two_lines(flow):
    for arguments in (["--debug", "config", "get", "no"], ["config", "get", "no", "--debug"]):
        ended = flow(*arguments)
        assert ended.code == 3
        assert ended.err.startswith("Traceback (most recent call last):")
        assert ended.err.endswith("\nflow config show lists every setting.\n")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FlowError("x"), 1),
        (UsageError("x"), 2),
        (NotFound("x"), 3),
        (Conflict("x"), 4),
        (DatabaseError("x"), 5),
        (RuntimeError("x"), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_exit_codes_are_those_of_the_contract(error, code):
    assert failure_of(error).exit_code == code


def ending_with(monkeypatch, error: BaseException) -> None:
    def end(context):
        raise error

    monkeypatch.setattr("flow_cli.commands.config.invocation", end)


def test_a_bug_is_told_without_a_traceback(monkeypatch, capsys):
    ending_with(monkeypatch, ValueError("no such colour"))
    assert application.main(["config", "show"]) == 1
    assert capsys.readouterr().err == (
        "Flow has a bug: ValueError: no such colour\n"
        "Run it again with --debug to see the traceback.\n"
    )


def test_an_interrupt_ends_quietly_with_130(monkeypatch, capsys):
    ending_with(monkeypatch, KeyboardInterrupt())
    assert application.main(["config", "show"]) == 130
    assert capsys.readouterr() == ("", "")


def within_a_class(error: BaseException) -> BaseException:
    """What Python 3.11 raises when that comes while a class is made."""
    wrapped = RuntimeError("Error calling __set_name__ on 'cached_property' instance")
    wrapped.__cause__ = error
    return wrapped


@pytest.mark.parametrize("error", [KeyboardInterrupt(), within_a_class(KeyboardInterrupt())])
def test_an_interrupt_while_commands_are_imported_ends_quietly_too(monkeypatch, capsys, error):
    class Interrupted:
        def __getattr__(self, name):
            raise error

    monkeypatch.setitem(sys.modules, "flow_cli.application", Interrupted())
    with pytest.raises(SystemExit) as caught:
        run()
    assert caught.value.code == 130
    assert capsys.readouterr() == ("", "")


def test_a_reader_that_has_gone_is_no_error(environment, project):
    ours, theirs = os.pipe()
    os.close(ours)
    ended = subprocess.run(
        [*COMMAND, "config", "show"],
        cwd=project,
        env=environment,
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(theirs)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_a_full_disk_is_told(environment, project):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [*COMMAND, "config", "show"],
            cwd=project,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr == "No space left on device\nMake room there, then run it again.\n"


def test_closed_output_is_no_error(environment, project):
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "config", "get", "home"],
        cwd=project,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
