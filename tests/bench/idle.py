"""idle: memory and CPU of parse, schedule and work with 20 DAGs of which none is due.

Usage: idle.py [--reduced]

60 s after the start the proportional set size over the three process trees, against one bare Python
for each program of the product that loaded the same third-party modules (a child that was forked
ahead gets none); over the next 60 s the CPU of the roles and PostgreSQL. By this definition the
bench takes two minutes.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence

import cpu
from harness import FLOW, Aim, Deployment, Results, deployment, main
from imports import zygote_modules
from runs import dag_files

AIM = Aim(1.5)
LIMIT = Aim(1.0)
"""Of a limit that is not measured but given."""
MEGABYTES = 150
PERCENT = 2.0
DAGS = 20
YEARLY = """\
from flow import DAG, task


@task
def work():
    return None


with DAG("yearly_{number}", schedule="0 0 1 1 *", catchup="none"):
    work()
"""
IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)
BARE = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError:
        pass  # it was tried in vain there as well: another system's module
print("ready", flush=True)
sys.stdin.read()
"""


def measure(results: Results, reduced: bool) -> None:
    """Print CPU, memory against its limit, and memory against the bare Pythons."""
    seconds = 5.0 if reduced else 60.0
    with deployment(FLOW_DAGS_PAUSED_AT_CREATION="false") as flow:
        files = {f"yearly_{number}": YEARLY.format(number=number) for number in range(DAGS)}
        dag_files(flow, files)
        folder = str(flow.folder("dags"))
        commands = (("parse", "--dags", folder), ("schedule",), ("work",))
        with flow.connect() as conn:
            roots = [flow.start(*command).pid for command in commands]
            flow.await_roles(conn, "parse", "schedule", "work")
        time.sleep(seconds)
        size = cpu.proportional_size(roots) / 1e6
        everybody = [*roots, cpu.postmaster(flow.server)]
        before, began = cpu.of_trees(everybody), time.monotonic()
        time.sleep(seconds)
        busy = (cpu.of_trees(everybody) - before) / (time.monotonic() - began) * 100
        flow.stop(*flow.roles)
        programs = [_third_party(flow, *_module(command)) for command in commands]
        programs += [_third_party(flow, "-c", _importing(zygote_modules()))] * 2
        bare = _bare(flow, programs) / 1e6
    results.line(busy, "% of a core", PERCENT, LIMIT, figure="CPU")
    results.line(size, "MB", MEGABYTES, LIMIT, figure="memory, limit")
    results.line(size, "MB", bare, AIM, programs=len(programs))


def _module(command: Sequence[str]) -> Sequence[str]:
    return [*FLOW[1:], *command, "--once"]


def _importing(names: Sequence[str]) -> str:
    return f"import {', '.join(names)}"


def _third_party(flow: Deployment, *arguments: str) -> list[str]:
    """The third-party modules that a Python loads in its life, in order."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, env=flow.environment, check=True, capture_output=True, text=True)
    return [name for name in IMPORTED.findall(done.stderr) if _is_third_party(name)]


def _is_third_party(name: str) -> bool:
    found = importlib.util.find_spec(name.partition(".")[0])
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return bool(found and found.origin and any(found.origin.startswith(p) for p in places))


def _bare(flow: Deployment, programs: Sequence[Sequence[str]]) -> int:
    """Bytes of one bare Python for each program, all alive at once."""
    alive = [
        subprocess.Popen(
            [sys.executable, "-c", BARE, *modules],
            env=flow.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for modules in programs
    ]
    try:
        for process in alive:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        return cpu.proportional_size([process.pid for process in alive])
    finally:
        for process in alive:
            process.communicate()


if __name__ == "__main__":
    main("idle", measure)
