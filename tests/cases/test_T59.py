"""T59: what `flow` prints can be relied on, by people and by programs, for every verb there is.

The result is on stdout and nothing else; with `-o json` it is one document, also when there is
nothing to tell. Errors are on stderr, an object there with `-o json`, and have the exit code of the
contract. Pipes get no colours and whole ids, narrow terminals get them folded. A reader that leaves
ends a verb quietly. What a DAG file prints while it is imported is in nobody's way.

`VERBS` has every command; a new one turns a test below red until it is here, too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence

import pytest

from cases.breaks import Break
from cases.deployment import COMMAND, Deployment, Ended, deployed
from cases.every_verb import (
    CONFLICTS,
    CONN,
    DAG,
    ELSEWHERE,
    EMPTY_LISTS,
    FILLED,
    LINES,
    PAUSED,
    POOL,
    READERS_LEAVE,
    RUN,
    TASK,
    TERMINALS,
    VARIABLE,
    VERBS,
    WITHOUT_FORMS,
    leaves,
    words,
)
from cases.on_terminal import on_terminal
from flow_cli.application import root
from waiting import limit, wait_until

NEEDS: list[str] = []

BREAKS = [
    # Nothing to tell is told by nothing.
    Break(
        "cli/flow_cli/output.py",
        "            if self.format is Format.JSON:\n                self._json(listed)\n",
        "            if listed and self.format is Format.JSON:\n"
        "                self._json(listed)\n",
        test="test_nothing_is_an_empty_list",
    ),
    # Messages are part of the result.
    Break(
        "cli/flow_cli/output.py",
        "        self.err.writelines(f",
        "        self.out.writelines(f",
        test="test_what_is_said_of_a_start_is_no_result",
    ),
    # Errors are always for people.
    Break(
        "cli/flow_cli/application.py",
        "report(failure, as_json=wants_json(arguments))",
        "report(failure, as_json=False)",
        test="test_an_error_is_an_object_with_lines_of_json_too",
    ),
    # Failures are successes.
    Break(
        "cli/flow_cli/application.py",
        "    return failure.exit_code\n",
        "    return exits.DONE\n",
        test="test_an_error_is_an_object_with_lines_of_json_too",
    ),
    # Every reader is taken for a terminal of 40 columns.
    Break(
        "cli/flow_cli/output.py",
        "        if self.out.isatty():\n            from flow_cli.terminal import draw_table\n",
        "        if self.out:\n            from flow_cli.terminal import draw_table\n",
        test="test_a_pipe_gets_whole_ids_and_no_colour",
    ),
    # A reader that leaves is a bug.
    Break(
        "cli/flow_cli/application.py",
        "    except BrokenPipeError:\n        _drop_output()\n        return exits.READER_GONE\n",
        "    except ConnectionResetError:\n        return exits.READER_GONE\n",
        test="test_a_reader_that_leaves_is_no_error",
    ),
    # Ids that are too long for the terminal lose their ends.
    Break(
        "cli/flow_cli/terminal.py",
        'Text(line, overflow="fold")',
        "Text(line[:40])",
        test="test_a_narrow_terminal_folds_and_loses_nothing",
    ),
]


NOISE = "noise of the file"

NOISY = f"""
    import logging, os, subprocess, sys, warnings

    print("{NOISE}")
    print("{NOISE}", file=sys.stderr)
    os.write(1, b"{NOISE}\\n")
    subprocess.run(["echo", "{NOISE}"], check=True)
    warnings.warn("{NOISE}")
    logging.warning("{NOISE}")

    from flow import DAG, task

    with DAG("{DAG}", schedule=None):

        @task(task_id="{TASK}")
        def say():
            print("\\x1b[31mred\\x1b[0m")
            return [1, "two"]

        say()

    with DAG("fails", schedule=None, default_args={{"retries": 0}}):

        @task
        def fail():
            raise RuntimeError("as it should")

        fail()

    with DAG("waits", schedule=None):
        say()

    with DAG("{PAUSED}", schedule=None, is_paused_upon_creation=True):
        say()

    # Its tasks wait for ever: there is no such pool.
    with DAG("{FILLED}", schedule="@daily", start_date="2026-01-01", catchup="none"):
        say.override(pool="nowhere")()
    """


AT_A_TIME = 3
"""Verbs that run at the same time, to be done sooner."""


@pytest.fixture(scope="module")
def empty() -> Iterator[Deployment]:
    """A deployment with a database and nothing in it."""
    with deployed({"worker.slots": 2, "parse.interval": 0.5}, prepared=False) as made:
        assert made.flow("db", "migrate").code == 0
        yield made


@pytest.fixture(scope="module")
def of_nothing(empty: Deployment) -> dict[str, Ended]:
    """What lists say when there is nothing."""
    commands = [words(verb, "-o", "json") for verb in EMPTY_LISTS]
    return dict(zip(EMPTY_LISTS, empty.together(commands, AT_A_TIME), strict=True))


@pytest.fixture(scope="module")
def started(empty: Deployment, of_nothing: dict[str, Ended]) -> Ended:
    """What the start of the same says, which has files now; asked for nothing before."""
    assert of_nothing
    for name, content in (("vars", {VARIABLE: "value"}), ("conns", {CONN: "tcp://127.0.0.1:1"})):
        (empty.project / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        assert empty.flow(name, "import", f"{name}.json").code == 0
    assert empty.flow("pools", "set", POOL, "3").code == 0
    empty.write("noisy.py", NOISY)
    empty.write("broken.py", f"import nothing_of_this_name\nprint('{NOISE}')\n")
    return empty.flow("up", "--detach")


@pytest.fixture(scope="module")
def deployment(empty: Deployment, started: Ended) -> Deployment:
    """The same at work, with something of everything in it."""
    assert started.code == 0, started.err
    empty.wait_for_roles("parse", "schedule", "work")
    empty.wait_for_dags(DAG, FILLED, PAUSED, "fails", "waits")
    assert empty.run_to_end(DAG, "--run-id", RUN)["state"] == "success"
    days = ("--from", "2026-01-01", "--to", "2026-01-03")
    assert empty.ask("backfill", FILLED, *days, "--yes")["id"] == 1
    wait_until(
        lambda: any("nowhere" in one for one in empty.ask("status", codes=(0, 1))["problems"]),
        "the tasks that wait for ever",
    )
    return empty


class Answers:
    """What verbs answer, in JSON, and as text in a pipe where 40 columns are asked for."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._known: dict[str, dict[str, Ended]] = {}

    def __getitem__(self, verb: str) -> Mapping[str, Ended]:
        """The answers of a verb by form; it is asked once."""
        if verb not in self._known:
            self._known[verb] = {form: self._ask(verb, form) for form in ("json", "text")}
        return self._known[verb]

    def _ask(self, verb: str, form: str) -> Ended:
        arguments = (part.format(form=form) for part in VERBS[verb].arguments)
        command = words(verb, *arguments, "-o", form)
        terminal = {"COLUMNS": "40", "TERM": "xterm-256color"}
        # Once anew: what has imported all of Flow would hide that a verb lacks an import.
        return self._deployment.flow(*command, anew=form == "json", **terminal)


@pytest.fixture(scope="module")
def answers(deployment: Deployment) -> Answers:
    return Answers(deployment)


def the_error(ended: Ended) -> dict[str, str]:
    """The error that a verb has told with -o json; before it stands what a file has printed."""
    assert ended.out == ""
    *before, last = ended.err.splitlines()
    assert [line for line in before if NOISE not in line] == []
    document = json.loads(last)
    assert list(document) == ["error"]
    error: dict[str, str] = document["error"]
    assert list(error) == ["code", "message", "hint"]
    assert error["message"]
    assert "Traceback" not in ended.err
    return error


def errors_of(
    deployment: Deployment, commands: Mapping[str, Sequence[str]], **variables: str
) -> dict[str, tuple[int, str]]:
    """Exit code and code of the error of each command, run with -o json."""
    lines = [words(verb, *arguments, "-o", "json") for verb, arguments in commands.items()]
    done = deployment.together(lines, AT_A_TIME, **variables)
    return {
        verb: (ended.code, the_error(ended)["code"])
        for verb, ended in zip(commands, done, strict=True)
    }


def test_every_command_is_here() -> None:
    there = dict(leaves(root()))
    assert set(there) == {*VERBS, *WITHOUT_FORMS, *ELSEWHERE}
    with_forms = {verb for verb, one in there.items() if "output" in {p.name for p in one.params}}
    assert with_forms - ELSEWHERE == set(VERBS)


def test_nothing_is_an_empty_list(of_nothing: dict[str, Ended]) -> None:
    for verb, ended in of_nothing.items():
        assert (ended.code, ended.out) == (0, "[]\n"), verb


def test_what_is_said_of_a_start_is_no_result(started: Ended) -> None:
    assert (started.code, started.out) == (0, ""), started.err
    assert "Flow is up" in started.err


@pytest.mark.parametrize("verb", VERBS)
def test_a_result_is_json_and_nothing_else(answers: Answers, verb: str) -> None:
    ended = answers[verb]["json"]
    assert ended.code == VERBS[verb].code, ended.err
    json.loads(ended.out)


@pytest.mark.parametrize(("verb", "arguments"), LINES)
def test_lines_of_json_are_one_document_each(
    deployment: Deployment, verb: str, arguments: tuple[str, ...]
) -> None:
    whole = deployment.ask(*words(verb, *arguments))
    ended = deployment.flow(*words(verb, *arguments, "-o", "jsonl"))
    assert (ended.code, ended.err) == (0, "")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert lines == (whole if isinstance(whole, list) else [whole])


def test_an_error_is_an_object_with_lines_of_json_too(deployment: Deployment) -> None:
    ended = deployment.flow("runs", "list", "nope", "-o", "jsonl")
    assert (ended.code, the_error(ended)["code"]) == (3, "not_found")


@pytest.mark.parametrize("verb", VERBS)
def test_a_pipe_gets_whole_ids_and_no_colour(answers: Answers, verb: str) -> None:
    ended = answers[verb]["text"]
    assert ended.code == VERBS[verb].code, ended.err
    if verb != "logs":  # what a task has printed is given to a pipe as it was
        assert "\x1b" not in ended.out + ended.err
    assert [one for one in VERBS[verb].whole if one not in ended.out] == []
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("verb", ["test", "tasks render", "dags list"])
def test_what_a_file_prints_is_no_result(answers: Answers, verb: str) -> None:
    for ended in answers[verb].values():
        assert NOISE not in ended.out


def test_commands_without_forms_print_their_result_only(deployment: Deployment) -> None:
    deployment.write("noisy.py", NOISY + "\n")  # so that there is something to parse
    commands = [words(verb, *arguments) for verb, arguments in WITHOUT_FORMS.items()]
    done = dict(zip(WITHOUT_FORMS, deployment.together(commands, AT_A_TIME), strict=True))
    assert {verb: ended.code for verb, ended in done.items()} == dict.fromkeys(WITHOUT_FORMS, 0)
    for role in ("parse", "schedule", "work"):
        assert done[role].out == ""
    assert done["db shell"].out == "1\n"
    assert set(json.loads(done["vars export"].out)) == {VARIABLE}
    assert set(json.loads(done["conns export"].out)) == {CONN}
    assert all("\x1b" not in ended.out + ended.err for ended in done.values())


def test_what_is_missing_is_exit_3(deployment: Deployment) -> None:
    commands = {verb: one.unknown for verb, one in VERBS.items() if one.unknown}
    found = errors_of(deployment, commands)
    assert found == dict.fromkeys(commands, (3, "not_found"))


def test_a_wrong_option_is_exit_2(deployment: Deployment) -> None:
    found = errors_of(deployment, dict.fromkeys(VERBS, ("--no-such-option",)))
    assert found == dict.fromkeys(VERBS, (2, "usage"))


def test_what_exists_already_is_exit_4(deployment: Deployment, answers: Answers) -> None:
    assert answers["init"]["json"].code == 0
    done = deployment.together([(*one, "-o", "json") for one in CONFLICTS], AT_A_TIME)
    for command, ended in zip(CONFLICTS, done, strict=True):
        assert (ended.code, the_error(ended)["code"]) == (4, "conflict"), command


def test_a_database_that_is_down_is_exit_5(deployment: Deployment) -> None:
    commands = {verb: one.arguments for verb, one in VERBS.items() if not one.offline}
    url = "postgresql://flow:hunter2@127.0.0.1:1/flow"
    found = errors_of(deployment, commands, FLOW_DATABASE_URL=url)
    assert found == dict.fromkeys(commands, (5, "database"))


def test_what_needs_a_terminal_says_what_there_is_without(deployment: Deployment) -> None:
    for arguments in ((), (DAG, "nope"), ("--read-only",)):
        ended = deployment.flow("tui", *arguments)
        assert (ended.code, ended.out) == (2, ""), arguments
        assert "the terminal UI needs a terminal" in ended.err
        assert "flow status, flow dags list" in ended.err


def test_an_interrupt_is_exit_130(deployment: Deployment) -> None:
    assert deployment.flow("dags", "pause", "waits").code == 0
    with subprocess.Popen(
        [*COMMAND, "run", "waits", "--wait", "--run-id", "left", "-o", "json"],
        cwd=deployment.project,
        env=deployment.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            wait_until(
                lambda: deployment.flow("runs", "show", "waits", "left").code == 0, "the run"
            )
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=limit(60))
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert "flow runs show waits left" in err


@pytest.mark.parametrize("command", READERS_LEAVE, ids=lambda one: " ".join(one)[:20])
def test_a_reader_that_leaves_is_no_error(deployment: Deployment, command: tuple[str, ...]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    ended = subprocess.run(
        [*COMMAND, *command],
        cwd=deployment.project,
        env=deployment.environment(),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=limit(60),
        check=False,
    )
    os.close(theirs)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize("command", TERMINALS, ids=lambda one: " ".join(one)[:20])
def test_a_narrow_terminal_folds_and_loses_nothing(
    deployment: Deployment, command: tuple[str, ...]
) -> None:
    shown = on_terminal(deployment, *command, COLUMNS="40", NO_COLOR="1")
    assert [line for line in shown.splitlines() if len(line.rstrip()) > 40] == []
    folded = "".join(shown.split())
    verb = " ".join(command[:2])
    assert [one for one in VERBS[verb].whole if one not in folded] == []


def test_only_a_terminal_gets_colours_and_only_if_it_may(deployment: Deployment) -> None:
    command = ("runs", "list", DAG)
    assert "\x1b" in on_terminal(deployment, *command, COLUMNS="400")
    assert "\x1b" not in on_terminal(deployment, *command, COLUMNS="400", NO_COLOR="1")


def test_the_end_is_told_as_json_too(deployment: Deployment) -> None:
    """Last in this file: it ends everything."""
    ended = deployment.flow("down", "-o", "json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out) == {"stopped": True, "database_stopped": True}
    again = deployment.flow("down", "-o", "json")
    assert (again.code, json.loads(again.out)["stopped"]) == (0, False)
