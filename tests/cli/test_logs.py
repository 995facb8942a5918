"""`flow logs` on a live deployment: whatever tasks write, also while they still write."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from cases.deployment import COMMAND, Deployment, deployed
from waiting import limit, wait_until

DAGS = """
    import os, signal, sys, time
    from datetime import timedelta
    from pathlib import Path
    from flow import DAG, task
    from flow.operators.bash import BashOperator
    from flow.operators.empty import EmptyOperator

    HERE = Path(__file__).parent

    def write(data):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def wait_for(name):
        while not (HERE / name).exists():
            time.sleep(0.01)

    with DAG("noise"):
        @task
        def controls():
            write(b"\\x1b[31mred\\x1b[0m \\xff\\x00\\n 10%\\r 20%\\r100%\\n")
        @task
        def long():
            write(b"x" * 3_000_000 + b"\\nthe end\\n")
        @task
        def cut_off():
            write(b"half a li")
            os.kill(os.getpid(), signal.SIGKILL)
        @task(retries=1, retry_delay=timedelta(seconds=0.1))
        def again(ti=None):
            print("this is try", ti.try_number)
            if ti.try_number == 1:
                raise ValueError("first")
        controls(); long(); cut_off(); again()
        BashOperator(task_id="skip", bash_command="exit 99") >> EmptyOperator(
            task_id="skipped", on_success_callback=print
        )

    with DAG("slow"):
        @task
        def speaks(ti=None):
            write(b"begun")
            wait_for(f"go-{ti.run_id}")
            write(b" and ended\\n")
        @task(retries=1, retry_delay=timedelta(seconds=0.1))
        def tries_again(ti=None):
            print("line of try", ti.try_number)
            if ti.try_number == 1:
                wait_for(f"go-{ti.run_id}")
                raise ValueError("first")
        speaks(); tries_again()

    with DAG("told"):
        @task
        def tell(dag_run=None):
            print("story", dag_run.conf["story"])
        tell()
    """


@dataclass(frozen=True)
class World:
    """A deployment at work, with a run of `noise` that is over."""

    deployment: Deployment
    noise: str

    def logs(self, *arguments: str, code: int = 0) -> str:
        ended = self.deployment.flow("logs", "noise", self.noise, *arguments)
        assert ended.code == code, ended.err
        return ended.out if code == 0 else ended.err

    def go(self, run_id: str) -> None:
        """Let the tasks of a run of `slow` end."""
        (self.deployment.dags / f"go-{run_id}").touch()


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with deployed({"worker.slots": 4}) as deployment:
        deployment.write("logs.py", DAGS)
        deployment.up()
        deployment.wait_for_dags("noise", "slow", "told")
        yield World(deployment, deployment.run_to_end("noise")["run_id"])


class Reader:
    """Collects what a process writes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.data = b""
        self._stream = stream
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while data := os.read(self._stream.fileno(), 65536):
            self.data += data

    def finish(self) -> bytes:
        self._thread.join(limit(30))
        return self.data


@contextmanager
def following(world: World, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], Reader]]:
    with subprocess.Popen(
        [*COMMAND, "logs", *arguments, "-f"],
        cwd=world.deployment.project,
        env=world.deployment.environment(LC_ALL="C"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        try:
            yield process, Reader(process.stdout)
        finally:
            process.kill()


def test_controls_are_shown_and_not_obeyed(world: World) -> None:
    text = world.logs("controls")
    assert "\x1b" not in text
    assert "\\x1b[31mred\\x1b[0m \\xff\\x00\n 10%\n 20%\n100%\n" in text


def test_on_a_terminal_too(world: World) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "logs", "noise", world.noise, "controls"],
        cwd=world.deployment.project,
        env=world.deployment.environment(),
        stdout=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:
            pass  # what Linux says when the other side of a terminal is closed
    os.close(ours)
    assert process.returncode == 0
    assert b"\x1b" not in shown
    assert b"red" in shown


def test_a_long_line_is_whole(world: World) -> None:
    text = world.logs("long")
    assert "x" * 3_000_000 + "\nthe end\n" in text


def test_the_last_words_of_a_killed_task(world: World) -> None:
    assert world.logs("cut_off").endswith("half a li\n")


def test_the_last_try_unless_another_is_asked_for(world: World) -> None:
    assert "this is try 2" in world.logs("again")
    first = world.logs("again", "--try", "1")
    assert "this is try 1" in first
    assert "ValueError: first" in first


def test_tail_and_grep(world: World) -> None:
    assert world.logs("long", "--tail", "2").startswith(("x" * 1000, "the end"))
    assert world.logs("controls", "--grep", r"^ \d+%$") == " 10%\n 20%\n"
    assert world.logs("controls", "--grep", r"%$", "--tail", "1") == "100%\n"
    assert "regular expression" in world.logs("controls", "--grep", "(", code=2)


def test_several_tasks_have_prefixes(world: World) -> None:
    lines = world.logs("controls", "again").splitlines()
    assert "controls │ 100%" in lines
    assert "again    │ this is try 2" in lines
    assert all(line.startswith(("controls │ ", "again    │ ")) for line in lines)


def test_a_selection_shows_the_logs_that_there_are(world: World) -> None:
    text = world.logs("skip+,again", "--grep", "try|exit")
    assert {line.split(" │ ")[0].strip() for line in text.splitlines()} == {"skip", "again"}
    assert "again   │ this is try 2" in text
    assert "cut_off  │ half a li\n" in world.logs("c*")


def test_without_a_task_those_that_failed_are_meant(world: World) -> None:
    assert world.logs() == "cut_off │ half a li\n"


def test_where_none_failed_one_has_to_be_named(world: World) -> None:
    deployment = world.deployment
    run_id = deployment.run("slow")
    ended = deployment.flow("logs", "slow", run_id)
    world.go(run_id)
    assert (ended.code, ended.err) == (
        3,
        f"no task of slow/{run_id} has failed, and none is named\n"
        f"name tasks, or all of them: flow logs slow {run_id} '*'\n",
    )


def test_json(world: World) -> None:
    ended = world.deployment.flow("logs", "noise", world.noise, "again", "-o", "json")
    (document,) = json.loads(ended.out)
    assert document["task_id"] == "again"
    assert document["try_number"] == 2
    assert document["log"].endswith("attempt=2.log")
    assert "this is try 2\n" in document["text"]
    ended = world.deployment.flow("logs", "noise", world.noise, "again", "-o", "jsonl")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert {"task_id": "again", "map_index": [], "try_number": 2, "line": "this is try 2"} in lines


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "has no task 'nothing'"),
        (["agin"], "did you mean again?"),
        (["again", "--try", "9"], "again has no try 9"),
        (["skipped"], "skipped never ran, so it has no log: it is skipped"),
        (["skipped", "-f"], "skipped never ran, so it has no log: it is skipped"),
    ],
)
def test_what_is_not_there(world: World, arguments: list[str], words: str) -> None:
    assert words in world.logs(*arguments, code=3)


def test_a_finished_task_is_followed_to_its_end(world: World) -> None:
    assert "the end" in world.logs("long", "-f", "--tail", "3")


def test_following_shows_half_lines_and_ends_by_itself(world: World) -> None:
    run_id = world.deployment.run("slow")
    with following(world, "slow", run_id, "speaks") as (process, read):
        wait_until(lambda: read.data.endswith(b"begun"), "the half line")
        world.go(run_id)
        assert process.wait(limit(30)) == 0
        assert b"begun and ended\n" in read.finish()


def test_following_goes_on_to_the_next_try(world: World) -> None:
    run_id = world.deployment.run("slow")
    with following(world, "slow", run_id, "speaks", "tries_again") as (process, read):
        wait_until(lambda: b"line of try 1" in read.data, "the first try")
        world.go(run_id)
        assert process.wait(limit(30)) == 0
        data = read.finish().decode()
    assert "speaks      │ begun" in data
    assert "and ended" in data
    assert data.index("line of try 1") < data.index("ValueError: first")
    assert data.index("ValueError: first") < data.index("line of try 2")


def test_a_run_made_again_has_logs_of_its_own(world: World) -> None:
    deployment = world.deployment
    deletions = (("runs", "delete", "told", "one"), ("dags", "delete", "told", "--begin-anew"))
    run = ("--run-id", "one", "--conf")
    deployment.run_to_end("told", *run, '{"story": 1}')
    stories = [_lines_of_story(world, 1)]
    for number, deletion in enumerate(deletions, 2):
        assert deployment.flow("dags", "pause", "told").code == 0
        assert deployment.flow(*deletion, "--yes").code == 0
        deployment.run("told", *run, f'{{"story": {number}}}')
        with following(world, "told", "one", "tell") as (process, read):
            assert deployment.flow("dags", "unpause", "told").code == 0
            assert process.wait(limit(60)) == 0
            followed = read.finish().decode()
        stories.append(_lines_of_story(world, number))
        assert followed == stories[-1]
    ended = deployment.flow("logs", "told", "one", "tell")
    said, _, named = ended.err.strip().rpartition(": ")
    assert said == "an earlier run of this id has left logs too"
    kept = [Path(name) for name in named.split(", ")]
    assert [path.name for path in kept] == [
        "attempt=1.earlier-run-1.log",
        "attempt=1.earlier-run-2.log",
    ]
    assert [path.read_text() for path in kept] == stories[:2]


def _lines_of_story(world: World, number: int) -> str:
    """The whole log of the run, which tells that story and no other."""
    text = world.deployment.flow("logs", "told", "one", "tell").out
    assert [line for line in text.splitlines() if line.startswith("story")] == [f"story {number}"]
    return text


def test_ctrl_c_leaves_the_run_alone(world: World) -> None:
    run_id = world.deployment.run("slow")
    with following(world, "slow", run_id, "speaks") as (process, read):
        wait_until(lambda: read.data.endswith(b"begun"), "the half line")
        process.send_signal(signal.SIGINT)
        assert process.wait(limit(30)) == 130
        assert process.stderr is not None
        assert b"the run goes on" in process.stderr.read()
    world.go(run_id)
    assert world.deployment.wait_for_run("slow", run_id)["state"] == "success"
