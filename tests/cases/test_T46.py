"""T46: a file that dies, hangs, forks or floods while it is imported harms itself alone.

Each file is imported by a process of its own with limits on time, CPU, memory and output. However
that process ends, the file gets one error that says how, with the place it had reached and the last
of its output; what it leaves running is killed. Meanwhile other files are imported in time, and the
last good version of a file that has become hostile can still be run.

The tests stand in order: the first ones watch one DAG processor at work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from cases.breaks import Break
from cases.deployment import Deployment, Role, deployed
from waiting import PATIENCE, limit, wait_until

SPARE_CHILDREN = 4
"""How many a parser's zygote forks ahead."""

BREAKS = [
    # Nobody looks at the clock.
    Break(
        "engine/flow/roles/parse/parser.py",
        "        self._imports.stop_overdue()\n",
        "",
        test="test_good_files_are_parsed_in_time_whatever_the_others_do",
    ),
    # A process that ends without a word has defined no DAGs, and all is well.
    Break(
        "engine/flow/process/verdict.py",
        "        return ImportFailure(_death(ended, overdue, limits), last.line, last.stack)\n",
        "        return []\n",
        test="test_good_files_are_parsed_in_time_whatever_the_others_do",
    ),
    # Memory has no limit.
    Break(
        "engine/flow/process/child.py",
        "        resource.setrlimit(resource.RLIMIT_DATA, (job.memory, job.memory))\n",
        "        pass\n",
    ),
    # All of the output is kept.
    Break(
        "engine/flow/roles/parse/tail.py", "        if excess > 0:\n", "        if excess < 0:\n"
    ),
    # What an import leaves running goes on.
    Break(
        "engine/flow/process/family.py",
        "                self._strangers[pid] = self._sweep\n                tree.kill(pid)\n",
        "                pass\n",
    ),
    # Files that hang hold up all others.
    Break(
        "engine/flow/roles/parse/queue.py",
        "        if len(self._slow) < self._slots:\n            self._slow.add(path)\n",
        "        if len(self._slow) > self._slots:\n            self._slow.add(path)\n",
        test="test_good_files_are_parsed_in_time_whatever_the_others_do",
    ),
]

TIMEOUT = 1.0 + 4.0 * PATIENCE
"""Seconds that an import may take here; on a busy machine a flood needs some of them."""
MEMORY = 1 << 30

DAG = """
from flow import DAG, task
{extra}
with DAG({dag_id!r}, schedule=None):

    @task(task_id="in_{cycle}")
    def work():
        return None

    work()
"""

HOSTILE = {
    "crash": ("import ctypes\n\nctypes.string_at(8)\n", r"signal 11 \(SIGSEGV\)", 3),
    "silent": ("import os\nprint('last words', flush=True)\nos._exit(0)\n", "exit code 0", None),
    "leaves": ("import sys\n\nsys.exit(1)\n", "SystemExit: 1", 3),
    "spins": ("x = 1\nwhile True:\n    pass\n", "longer than|of CPU", 2),
    "sleeps": ("import time\ntime.sleep(9999)\n", "longer than", 2),
    "interrupts": ("\nraise KeyboardInterrupt\n", "KeyboardInterrupt", 2),
    "greedy": ("x = bytearray(10 * 2**30)\n", r"MemoryError.*1 GiB", 1),
    "aborts": ("import os\nos.abort()\n", r"signal 6 \(SIGABRT\)", 2),
    "kills": (
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile 1: pass\n",
        "ended the process that had started it",
        None,
    ),
    "abandons": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(9999)\nos._exit(7)\n",
        "exit code 7",
        None,
    ),
    "recurses": ("def f():\n    f()\nf()\n", "RecursionError", 2),
    "huge": (
        DAG.format(extra="BIG = 'x' * 70_000_000", dag_id="huge", cycle=0).replace(
            "schedule=None", "schedule=None, description=BIG"
        ),
        "too large|larger than",
        None,
    ),
}
"""Text, what the error says, and the line that it names."""
HANGING = [f"hangs_{number}" for number in range(4)]
"""Twice as many as there are processes."""
HANG = "import time\nwhile True:\n    time.sleep(9999)\n"
HARMLESS = {
    "floods": "for _ in range(200):\n    print('x' * 1_000_000)\nprint('the end')",
    "closes": "import os\nos.close(0)\nos.close(1)\nos.close(2)",
    "reads": "import sys\nassert sys.stdin.read() == ''",
    "forks": (
        "import os, time\n"
        "for _ in range(50):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        time.sleep(9999)\n"
        "        os._exit(0)"
    ),
    "threads": (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(9999,), daemon=True).start()"
    ),
}
"""What a file may do if it must, and defines its DAG."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    settings = {"parse.timeout": TIMEOUT, "parse.memory": MEMORY, "worker.slots": 2}
    with deployed(settings) as made:
        assert made.flow("db", "migrate").code == 0
        yield made


def write(deployment: Deployment, name: str, cycle: int, extra: str = "") -> None:
    """Write a file with a DAG of its own name."""
    deployment.write(f"{name}.py", DAG.format(extra=extra, dag_id=name, cycle=cycle))


def errors(deployment: Deployment) -> dict[str, dict[str, Any]]:
    """The import errors by name of file."""
    found = deployment.ask("dags", "errors", "--all")
    return {Path(one["file"]).stem: one for one in found}


def present(deployment: Deployment) -> set[str]:
    """The DAGs that there are."""
    return {dag["dag_id"] for dag in deployment.ask("dags", "list", "--all")}


def size(role: Role) -> int:
    """Bytes of memory that a role itself has in use."""
    return int(psutil.Process(role.process.pid).memory_info().rss)


def below(role: Role) -> list[str]:
    """What runs below a role, by command."""
    found = []
    for one in psutil.Process(role.process.pid).children(recursive=True):
        try:
            if one.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(one.cmdline()))
        except psutil.NoSuchProcess:
            pass  # it has ended
    return found


def printing(role: Role) -> list[int]:
    """Processes below a role whose output goes where that of an import goes."""
    found = []
    for one in psutil.Process(role.process.pid).children(recursive=True):
        try:
            if "/flow-imports-" in os.readlink(f"/proc/{one.pid}/fd/1"):
                found.append(one.pid)
        except OSError:
            pass  # it has ended
    return found


@pytest.fixture(scope="module")
def parser(deployment: Deployment) -> Role:
    """A DAG processor that has a good version of every file, before they turn hostile."""
    for name in ("good", "turned"):
        write(deployment, name, 0)
    role = deployment.start("parse", "--processes", "2")
    deployment.wait_for_dags("good", "turned")
    return role


def test_good_files_are_parsed_in_time_whatever_the_others_do(
    deployment: Deployment, parser: Role
) -> None:
    before = size(parser)
    for name in HANGING:
        deployment.write(f"{name}.py", HANG)
    for name, (text, _, _) in HOSTILE.items():
        deployment.write(f"{name}.py", text)
    for name, extra in HARMLESS.items():
        write(deployment, name, 0, extra)
    deployment.write("turned.py", "import os\nos._exit(9)\n")
    for cycle in range(1, 4):
        write(deployment, "good", cycle)
        wait_until(
            lambda cycle=cycle: deployment.ask("dags", "show", "good")["version"] == cycle + 1,
            f"version {cycle + 1} of the good DAG",
            seconds=TIMEOUT,
        )
    expected = {*HOSTILE, *HANGING, "turned"}

    def told() -> bool:
        return not expected - set(errors(deployment))

    wait_until(told, "an error of each", seconds=120, pause=0.5)
    assert set(errors(deployment)) == expected
    assert parser.process.poll() is None
    assert present(deployment) == {"good", "turned", *HARMLESS}
    assert size(parser) - before < 100 << 20


@pytest.fixture(scope="module")
def told(deployment: Deployment, parser: Role) -> dict[str, dict[str, Any]]:
    """The import errors when all have been told."""
    assert parser.process.poll() is None
    return errors(deployment)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_error_says_how_it_ended_and_where(told: dict[str, dict[str, Any]], name: str) -> None:
    _, says, line = HOSTILE[name]
    found = told[name]
    assert re.search(says, found["error"]), found["error"]
    assert "\n" not in found["error"]
    if line is not None:
        assert found["line"] in (line, line + 1)


@pytest.mark.usefixtures("parser")
def test_the_last_of_the_output_is_kept(deployment: Deployment) -> None:
    assert deployment.ask("dags", "errors", "silent.py")["output"] == "last words"
    flood = deployment.ask("dags", "errors", "floods.py")["output"]
    assert flood.endswith("xxx\nthe end")
    assert len(flood) < 10_000


def test_nothing_of_the_imports_is_left(deployment: Deployment, parser: Role) -> None:
    """Only the zygote and its spare children, once nothing is tried any more.

    Some file has ended the zygote, and all below it, so one more import leaves something.
    """
    text, _, _ = HOSTILE["abandons"]
    deployment.write("abandons.py", text.replace("_exit(7)", "_exit(8)"))
    wait_until(lambda: "code 8" in errors(deployment)["abandons"]["error"], "its other error")

    def quiet() -> bool:
        return all("flow.process.zygote" in command for command in below(parser))

    wait_until(quiet, "the end of all imports")
    most = 1 + SPARE_CHILDREN
    wait_until(lambda: len(below(parser)) <= most, "the end of what imports have left", seconds=60)
    # A spare child has not been told where to print: what does is left of an import.
    wait_until(lambda: not printing(parser), "the end of what prints", seconds=60)
    assert deployment.processes()


def test_the_last_good_version_can_be_run(deployment: Deployment, parser: Role) -> None:
    assert deployment.ask("dags", "show", "turned")["version"] == 1
    deployment.start("schedule")
    deployment.start("work")
    assert deployment.run_to_end("good")["state"] == "success"
    run_id = deployment.run("turned")
    ended = deployment.wait_for_run("turned", run_id, seconds=limit(60) / PATIENCE)
    assert ended["state"] == "failed", "its code is hostile, but there is a run that says so"
    assert parser.end() == 0


def test_a_file_that_is_mended_has_no_error(deployment: Deployment) -> None:
    for name in [*HOSTILE, *HANGING]:
        deployment.write(f"{name}.py", "")
    write(deployment, "turned", 1)
    deployment.parse()
    assert errors(deployment) == {}
    assert deployment.ask("dags", "show", "turned")["version"] == 2
