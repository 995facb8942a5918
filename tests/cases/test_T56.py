"""T56: whatever a task writes is kept, byte for byte, is shown as it comes, and harms nobody.

Logs are what processes wrote into their files; what shows them makes readable text of the bytes:
what is no UTF-8 and what would drive a terminal is escaped. Nothing depends on the locale.
"""

from __future__ import annotations

import hashlib
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cases.breaks import Break
from cases.deployment import COMMAND, Deployment, deployed
from cases.on_terminal import on_terminal
from waiting import wait_until

NEEDS: list[str] = []

BREAKS = [
    # What a task has printed of a line waits for its end.
    Break(
        "engine/flow/process/output.py",
        "            write_through=True,\n",
        "            write_through=False,\n",
        test="test_half_a_line_of_a_killed_task_is_seen_at_once_and_kept",
    ),
    # Text follows the locale.
    Break(
        "engine/flow/process/output.py",
        '            encoding="utf-8",\n            errors="backslashreplace",\n'
        '            newline="\\n",\n',
        '            encoding="ascii",\n            newline="\\n",\n',
        test="test_no_task_fails_because_of_what_it_writes",
    ),
    # Bytes that are no UTF-8 are an error.
    Break(
        "engine/flow/logs/text.py",
        'getincrementaldecoder("utf-8")("backslashreplace")',
        'getincrementaldecoder("utf-8")("strict")',
        test="test_bytes_are_kept_and_shown_readably",
    ),
    # A terminal obeys what a task has written.
    Break(
        "engine/flow/logs/text.py",
        "        return text if text.isprintable() else text.translate(_ESCAPES)\n",
        "        return text\n",
        test="test_bytes_are_kept_and_shown_readably",
    ),
    # Places in a log are counted in characters.
    Break(
        "engine/flow/ops/logs/following.py",
        "            self._offset += len(data)\n            yield self._text.feed(data)\n",
        "            text = self._text.feed(data)\n            self._offset += len(text)\n"
        "            yield text\n",
        test="test_two_followers_see_all_tries_of_several_tasks_and_end",
    ),
    # A follower does not see that a task has ended.
    Break(
        "engine/flow/ops/logs/following.py",
        "        self.over = the_only_one or self._state in FINISHED\n",
        "        self.over = the_only_one\n",
        test="test_half_a_line_of_a_killed_task_is_seen_at_once_and_kept",
    ),
    # Of a line that has not ended nothing is shown.
    Break(
        "engine/flow/logs/text.py",
        "        text = self._decoder.decode(data, final)\n",
        '        text = self._decoder.decode(data, final).rpartition("\\n")[0]\n',
        test="test_half_a_line_of_a_killed_task_is_seen_at_once_and_kept",
    ),
]

BIG = 100_000_000
MEMORY = 200_000_000

DAG = f"""
    import os, signal, sys, time
    from datetime import timedelta
    from flow import DAG, task
    from marks import stay

    def write(data):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def gone_on(name):
        return lambda: os.path.exists(os.path.join(os.environ["CASE_MARKS"], name))

    with DAG("noise", schedule=None, default_args={{"retries": 0}}):
        @task
        def invalid():
            write(b"caf\\xe9 \\xff\\xfe\\xc3(\\n")

        @task
        def controls():
            write(b"a\\x00b\\n\\x1b[31mred\\x1b[0m\\n\\x1b]0;title\\x07\\n")

        @task
        def progress():
            for percent in range(0, 101, 50):
                write(b"\\r%3d%%" % percent)

        @task
        def unended():
            write(b"first\\nlast without an end")

        @task
        def emoji():
            print("caf\\u00e9 \\U0001f600")

        @task
        def big():
            part = b"0123456789" * 100_000
            for _ in range({BIG} // len(part)):
                sys.stdout.buffer.write(part)
            write(b"end\\n")

        for one in (invalid, controls, progress, unended, emoji, big):
            one()

    with DAG("killed", schedule=None, default_args={{"retries": 0}}):
        @task
        def dies():
            print("half", end="")
            sys.stdout.write(" a line")
            stay(600, "dies", until=gone_on("die"))
            os.kill(os.getpid(), signal.SIGKILL)

        dies()

    with DAG("speaks", schedule=None):
        @task(retries=1, retry_delay=timedelta(seconds=0.1))
        def twice(ti=None):
            print("\\u00e9" * 100, "try", ti.try_number)
            if ti.try_number == 1:
                stay(600, "twice", until=gone_on("fail"))
                raise ValueError("as it should")
            print("\\U0001f600 well")

        @task
        def once():
            for number in range(1000):
                print("number", number)

        twice(); once()
    """


@dataclass(frozen=True)
class Following:
    """A `flow logs -f` at work, its output in a file."""

    process: subprocess.Popen[bytes]
    path: Path

    def text(self) -> str:
        """What it has printed."""
        return self.path.read_text(encoding="utf-8")

    def wait(self) -> int:
        """Wait until it ends by itself; the exit code."""
        wait_until(lambda: self.process.poll() is not None, "the follower's end", seconds=60)
        return self.process.wait()


@dataclass(frozen=True)
class Noise:
    """A deployment in locale C with a run of `noise` that is over."""

    deployment: Deployment
    run_id: str

    def raw(self, task_id: str) -> bytes:
        """The log of a task, as the file has it."""
        (last,) = self.deployment.tries("noise", self.run_id, task_id)
        return Path(last["log"]).read_bytes()

    def logs(self, *arguments: str) -> str:
        """What `flow logs` prints of a task in a pipe."""
        done = self.deployment.flow("logs", "noise", self.run_id, *arguments)
        assert done.code == 0, done.err
        return done.out

    def go(self, name: str) -> None:
        """Let tasks go on that wait for this."""
        (self.deployment.folder / "m" / name).touch()

    def follow(self, *arguments: str) -> Following:
        """Follow logs in locale C."""
        number = len(list(self.deployment.folder.glob("follows-*")))
        path = self.deployment.folder / f"follows-{number}"
        environment = self.deployment.environment(LC_ALL="C", LANG="C")
        environment.pop("PYTHONIOENCODING", None)
        with path.open("wb") as file:
            process = subprocess.Popen(
                [*COMMAND, "logs", *arguments, "-f"],
                cwd=self.deployment.project,
                env=environment,
                stdout=file,
                stderr=subprocess.DEVNULL,
            )
        return Following(process, path)


@pytest.fixture(scope="module")
def noise() -> Iterator[Noise]:
    with deployed() as deployment:
        deployment.write("noise.py", DAG)
        deployment.up(LANG="C", LC_ALL="C")
        deployment.wait_for_dags("noise", "killed", "speaks")
        yield Noise(deployment, deployment.run_to_end("noise")["run_id"])


def test_no_task_fails_because_of_what_it_writes(noise: Noise) -> None:
    states = noise.deployment.states("noise", noise.run_id)
    assert states == dict.fromkeys(
        ("big", "controls", "emoji", "invalid", "progress", "unended"), "success"
    )


@pytest.mark.parametrize(
    ("task_id", "raw", "shown"),
    [
        ("invalid", b"caf\xe9 \xff\xfe\xc3(\n", "caf\\xe9 \\xff\\xfe\\xc3(\n"),
        (
            "controls",
            b"a\x00b\n\x1b[31mred\x1b[0m\n\x1b]0;title\x07\n",
            "a\\x00b\n\\x1b[31mred\\x1b[0m\n\\x1b]0;title\\x07\n",
        ),
        ("progress", b"\r  0%\r 50%\r100%", "  0%\n 50%\n100%"),
        ("unended", b"first\nlast without an end", "first\nlast without an end"),
        ("emoji", "café 😀\n".encode(), "café 😀\n"),
    ],
)
def test_bytes_are_kept_and_shown_readably(
    noise: Noise, task_id: str, raw: bytes, shown: str
) -> None:
    assert raw in noise.raw(task_id)
    text = noise.logs(task_id)
    assert shown in text
    assert "\x1b" not in text
    assert "\x1b" not in on_terminal(noise.deployment, "logs", "noise", noise.run_id, task_id)


def test_a_line_of_a_hundred_megabytes(noise: Noise) -> None:
    raw = noise.raw("big")
    assert b"0123456789" * (BIG // 10) + b"end\n" in raw
    shown, peak = _shown(noise, "big")
    assert shown == hashlib.sha256(raw).hexdigest()
    assert 0 < peak < MEMORY
    assert noise.logs("big", "--grep", "end$").endswith("789end\n")
    roles = noise.deployment.ask("status", codes=(0, 1))["roles"]
    (worker,) = (role["pid"] for role in roles if role["role"] == "work")
    assert sum(_peak(pid) for pid in _with_children(worker)) < MEMORY


def test_half_a_line_of_a_killed_task_is_seen_at_once_and_kept(noise: Noise) -> None:
    run_id = noise.deployment.run("killed")
    following = noise.follow("killed", run_id, "dies")
    wait_until(lambda: following.text().endswith("half a line"), "the half line")
    noise.go("die")
    assert following.wait() == 0
    assert following.text().endswith("half a line\n")
    (last,) = noise.deployment.tries("killed", run_id, "dies")
    assert (last["signal"], last["state"]) == (signal.SIGKILL, "failed")
    assert b"half a line" in Path(last["log"]).read_bytes()


def test_two_followers_see_all_tries_of_several_tasks_and_end(noise: Noise) -> None:
    run_id = noise.deployment.run("speaks")
    both = [noise.follow("speaks", run_id, "twice", "once") for _ in range(2)]
    only = noise.follow("speaks", run_id, "twice", "--grep", "well|try")
    for one in (*both, only):
        wait_until(lambda one=one: "try 1" in one.text(), "the first try")  # type: ignore[misc]
    noise.go("fail")
    assert [one.wait() for one in (*both, only)] == [0, 0, 0]
    for one in both:
        lines = one.text().splitlines()
        assert all(re.match("(twice|once ) [│|] ", line) for line in lines)
        told = [line[8:] for line in lines if line.startswith("twice")]
        assert told.index("é" * 100 + " try 1") < told.index("é" * 100 + " try 2")
        assert "😀 well" in told
        numbers = [line[8:] for line in lines if "number" in line]
        assert numbers == [f"number {number}" for number in range(1000)]
    assert only.text().splitlines() == ["é" * 100 + " try 1", "é" * 100 + " try 2", "😀 well"]


def _shown(noise: Noise, task_id: str) -> tuple[str, int]:
    """The hash of what `flow logs` prints, and the most memory that it takes for that, in bytes."""
    digest, peak = hashlib.sha256(), 0
    with subprocess.Popen(
        [*COMMAND, "logs", "noise", noise.run_id, task_id],
        cwd=noise.deployment.project,
        env=noise.deployment.environment(),
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        while part := process.stdout.read(1 << 20):
            digest.update(part)
            peak = max(peak, _peak(process.pid))
    assert process.returncode == 0
    return digest.hexdigest(), peak


def _peak(pid: int) -> int:
    """The most memory that a live process has taken, in bytes; 0 of one that is over."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def _with_children(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [pid, *map(int, children)]
