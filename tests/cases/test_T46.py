"""T46: a file that dies, hangs, forks or floods while it is imported harms itself alone.

Each file is imported by a process of its own with limits on time, CPU, memory and output. However
that process ends, the file gets one error that says how, with the place it had reached and the last
of its output; what it leaves running is killed. Meanwhile other files are imported in time, and the
last good version of a file that has become hostile can still be run.

"In time" is told by the order of what happens, not by a clock: a good file is stored while those
that hang are hanging still; and of two files, the one that hangs has its error before many versions
of the other one have come and gone that were all imported after its time was up.

The tests stand in order: all but the first watch one DAG processor at work.
"""

from __future__ import annotations

import os
import re
import time
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
        test="test_a_file_that_hangs_is_ended_when_its_time_is_up",
    ),
    # A process that ends without a word has defined no DAGs, and all is well.
    Break(
        "engine/flow/process/verdict.py",
        "        return ImportFailure(_death(ended, overdue, limits), last.line, last.stack)\n",
        "        return []\n",
        test="test_each_hostile_file_harms_itself_alone",
    ),
    # Memory has no limit.
    Break(
        "engine/flow/process/child.py",
        "        resource.setrlimit(resource.RLIMIT_DATA, (job.memory, job.memory))\n",
        "        pass\n",
        test="test_memory_has_a_limit",
    ),
    # All of the output is kept.
    Break(
        "engine/flow/roles/parse/tail.py",
        "            del self._kept[:excess]\n            self._dropped += excess\n",
        "            pass\n",
        test="test_the_last_of_the_output_is_kept",
    ),
    # What an import leaves running goes on.
    Break(
        "engine/flow/process/family.py",
        "                self._strangers[pid] = self._sweep\n                tree.kill(pid)\n",
        "                pass\n",
        test="test_nothing_of_the_imports_is_left",
    ),
    # Files that hang hold up all others.
    Break(
        "engine/flow/roles/parse/queue.py",
        "        return any(self._lanes[:_AGAIN])\n",
        "        return False\n",
        test="test_files_that_hang_hold_up_no_other",
    ),
    # A file that hangs makes room each time, and is imported again and again.
    Break(
        "engine/flow/roles/parse/queue.py",
        "        if len(self._slow) < self._slots:\n            self._slow.add(path)\n",
        "        if len(self._slow) > self._slots:\n            self._slow.add(path)\n",
        test="test_files_that_hang_hold_up_no_other",
    ),
]

TIMEOUT = 1.0 + 3.0 * PATIENCE
"""Seconds that an import may take here; on a busy machine a flood needs some of them."""
MEMORY = 1 << 29
PROCESSES = 2
MANY = 10
"""Versions of a good file, each parsed by itself."""

DAG = """
from flow import DAG, task
{extra}
with DAG({dag_id!r}, schedule=None):

    @task(task_id="in_{cycle}")
    def work():
        return None

    work()
"""

ABANDON = """
import os, time
child = os.fork()
if child == 0:
    os.setsid()
    time.sleep(9999)
with open({marks!r}, "w") as marks:
    marks.write(str(child))
os._exit(7)
"""

HOSTILE = {
    "crash": ("import ctypes\n\nctypes.string_at(8)\n", r"signal 11 \(SIGSEGV\)", 3),
    "silent": ("import os\nprint('last words', flush=True)\nos._exit(0)\n", "exit code 0", None),
    "leaves": ("import sys\n\nsys.exit(1)\n", "SystemExit: 1", 3),
    "spins": ("x = 1\nwhile True:\n    pass\n", "longer than|of CPU", 2),
    "sleeps": ("import time\ntime.sleep(9999)\n", "longer than", 2),
    "interrupts": ("\nraise KeyboardInterrupt\n", "KeyboardInterrupt", 2),
    "greedy": ("x = bytearray(10 * 2**30)\n", r"MemoryError.*0\.5 GiB", 1),
    "aborts": ("import os\nos.abort()\n", r"signal 6 \(SIGABRT\)", 2),
    "kills": (
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile 1: pass\n",
        "ended the process that had started it",
        None,
    ),
    "abandons": (ABANDON.format(marks=os.devnull), "exit code 7", None),
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
ENDLESS = ("spins", "sleeps")
"""Those of them that only the clock ends."""
HANGING = [f"hangs_{number}" for number in range(2 * PROCESSES)]
HANG = """
import time
with open({begun!r}, "a") as marks:
    marks.write("{name}\\n")
while True:
    time.sleep(9999)
"""
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


def present_files(deployment: Deployment) -> set[str]:
    """The files that there are, without `.py`."""
    return {path.stem for path in deployment.dags.iterdir()}


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


def begun(deployment: Deployment) -> list[str]:
    """The hanging files whose import has begun, as often as it has."""
    marks = deployment.folder / "m" / "begun"
    return sorted(marks.read_text().split()) if marks.exists() else []


def hang(deployment: Deployment, name: str) -> None:
    """Write a file that marks its import's beginning, which has no end."""
    marks = str(deployment.folder / "m" / "begun")
    deployment.write(f"{name}.py", HANG.format(begun=marks, name=name))


def renew(deployment: Deployment, name: str, cycle: int) -> None:
    """Write another version of a good file and wait until it is stored."""
    write(deployment, name, cycle)
    wait_until(
        lambda: deployment.ask("dags", "show", name)["version"] == cycle + 1,
        f"version {cycle + 1} of {name}",
        seconds=120,
    )


def test_files_that_hang_hold_up_no_other(deployment: Deployment) -> None:
    """Some of them keep a process each; the others make room whenever somebody waits."""
    write(deployment, "punctual", 0)
    # Far more than it takes to find out that a file hangs, on any machine.
    parser = deployment.start("parse", "--processes", str(PROCESSES), FLOW_PARSE_TIMEOUT="90")
    deployment.wait_for_dags("punctual")
    for name in HANGING:
        hang(deployment, name)
    wait_until(lambda: set(begun(deployment)) == set(HANGING), "the beginning of each")
    renew(deployment, "punctual", 1)
    assert not errors(deployment), "it waited until a file that hangs had used up its time"
    assert begun(deployment) == HANGING, "some were imported again and again"
    parser.kill()
    for name in ("punctual", *HANGING):
        (deployment.dags / f"{name}.py").unlink()


@pytest.fixture(scope="module")
def parser(deployment: Deployment) -> Role:
    """A DAG processor that has a good version of every file, before they turn hostile."""
    for name in ("good", "turned"):
        write(deployment, name, 0)
    role = deployment.start("parse", "--processes", str(PROCESSES))
    deployment.wait_for_dags("good", "turned")
    return role


@pytest.mark.usefixtures("parser")
def test_a_file_that_hangs_is_ended_when_its_time_is_up(deployment: Deployment) -> None:
    hang(deployment, "overdue")
    for name in ENDLESS:
        deployment.write(f"{name}.py", HOSTILE[name][0])
    wait_until(lambda: "overdue" in begun(deployment), "its beginning")
    renew(deployment, "good", 1)
    # What was stored after it had begun was stored after the processor had heard of that.
    up = time.monotonic() + TIMEOUT

    def is_told() -> bool:
        return "overdue" in errors(deployment)

    wait_until(
        lambda: is_told() or time.monotonic() > up, "the end of its time", seconds=60, pause=0.5
    )
    for cycle in range(2, 2 + MANY):
        if is_told():
            break
        renew(deployment, "good", cycle)
    assert is_told(), f"it goes on while {MANY} others began and ended after its time was up"


def test_each_hostile_file_harms_itself_alone(deployment: Deployment, parser: Role) -> None:
    before = size(parser)
    for name in HOSTILE.keys() - {"kills", *present_files(deployment)}:
        deployment.write(f"{name}.py", HOSTILE[name][0])
    for name, extra in HARMLESS.items():
        write(deployment, name, 0, extra)
    deployment.write("turned.py", "import os\nos._exit(9)\n")
    deployment.wait_for_files("turned", *HARMLESS, *(HOSTILE.keys() - {"kills"}))
    # It ends whatever else is being imported, which then has to begin anew, one by one.
    deployment.write("kills.py", HOSTILE["kills"][0])
    deployment.wait_for_files("kills")
    assert set(errors(deployment)) - {"overdue"} == {*HOSTILE, "turned"}
    assert parser.process.poll() is None
    assert present(deployment) == {"good", "turned", *HARMLESS}
    assert len(deployment.ask("dags", "errors", "floods.py")["output"]) < 10_000
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
def test_memory_has_a_limit(deployment: Deployment) -> None:
    write(deployment, "wide", 0, f"WIDE = bytearray({MEMORY + (64 << 20)})")
    deployment.wait_for_files("wide")
    assert "MemoryError" in errors(deployment).get("wide", {"error": "none"})["error"]


@pytest.mark.usefixtures("parser")
def test_the_last_of_the_output_is_kept(deployment: Deployment) -> None:
    line = "x" * 100
    text = f"for _ in range(2_000):\n    print({line!r})\nprint('the end')\n1 / 0\n"
    deployment.write("chats.py", text)
    deployment.wait_for_files("chats")
    output = deployment.ask("dags", "errors", "chats.py")["output"]
    assert output.endswith(f"{line}\nthe end")
    assert len(output) < 10_000


def test_nothing_of_the_imports_is_left(deployment: Deployment, parser: Role) -> None:
    """What an import has started is dead before its end is told; then there are only the zygote
    and its spare children.
    """
    marks = deployment.folder / "m" / "abandoned"
    deployment.write("abandons_too.py", ABANDON.format(marks=str(marks)))
    deployment.wait_for_files("abandons_too")
    assert "exit code 7" in errors(deployment)["abandons_too"]["error"]
    abandoned = int(marks.read_text())
    assert not psutil.pid_exists(abandoned)

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
    for name in errors(deployment):
        deployment.write(f"{name}.py", "")
    write(deployment, "turned", 1)
    deployment.parse()
    assert errors(deployment) == {}
    assert deployment.ask("dags", "show", "turned")["version"] == 2
