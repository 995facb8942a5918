"""hop: from the end of one task's function to the first statement of its successor's process.

Usage: hop.py [--reduced]

A chain of `@task` functions that return None, run by `flow schedule` and `flow work`. Each writes
down when its process was given the try (`ti.stamps.received`), when its first line ran and when it
ended, in seconds of CLOCK_MONOTONIC. The floor is three durable commits handed on by NOTIFY and a
fork by a process that has loaded what the zygote has.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

from harness import Aim, Conn, Deployment, Results, deployment, main, p99, run_floor
from imports import zygote_modules
from runs import dag_files, run_once

AIM = Aim(1.6)
FIRST_LINE = Aim(1.0)
"""Of twice the relay plus one import of the file."""
CHAIN = """\
import os
import time
from pathlib import Path

{imports}
from flow import DAG, chain, get_current_context, task

NAME = Path(__file__).stem


@task
def step(number):
    began = time.monotonic()
    received = get_current_context()["ti"].stamps.received
    log = os.open({stamps!r} + "/" + NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{{number}} {{received}} {{began}} {{time.monotonic()}}\\n".encode())


with DAG(NAME, schedule="@once"):
    chain(*[step.override(task_id=f"step_{{number:02}}")(number) for number in range({length})])
"""
SLOW_MODULE = """\
import time

_END = time.monotonic() + 0.3
while time.monotonic() < _END:
    pass
"""


@dataclass(frozen=True, slots=True)
class Hops:
    """Milliseconds from the end of a function, for every task of some chains but their first."""

    received: list[float]
    first_line: list[float]


def measure(results: Results, reduced: bool) -> None:
    """Print hops against the relay."""
    chains, length = (1, 12) if reduced else (4, 50)
    slow_length = 4 if reduced else 16
    with deployment() as flow, flow.connect() as conn:
        stamps, modules = flow.folder("stamps"), flow.folder("modules")
        flow.add_path(modules)
        (modules / "slow_module.py").write_text(SLOW_MODULE)
        names = [f"chain_{number}" for number in range(chains)]
        texts = {name: chain(stamps, length) for name in names}
        texts["slow"] = chain(stamps, slow_length, "import slow_module")
        files = dag_files(flow, texts)
        flow.start("schedule")
        flow.start("work", "--slots", "8")
        flow.await_roles(conn, "schedule", "work")
        relay = flow.floor("relay", "--load", ",".join(zygote_modules()), "--n", 150)
        quick = run_chains(conn, stamps, names)
        slow = run_chains(conn, stamps, ["slow"])
        for name, hops in (("slow", slow), ("chain_0", quick)):
            seen = "300 ms module" if name == "slow" else "plain file"
            limit = 2 * relay["p50_ms"] + _import_ms(flow, files[name])
            results.line(median(hops.first_line), "ms", limit, FIRST_LINE, to="first line", of=seen)
        results.line(p99(quick.received), "ms", relay["p99_ms"], figure="p99")
        results.line(median(quick.received), "ms", relay["p50_ms"], AIM, hops=len(quick.received))


def chain(stamps: Path, length: int, imports: str = "") -> str:
    """A DAG file with a chain of so many tasks, which write their times into a file of its name."""
    return CHAIN.format(stamps=str(stamps), length=length, imports=imports)


def run_chains(conn: Conn, stamps: Path, names: list[str]) -> Hops:
    """Run stored chains one after the other."""
    hops = Hops([], [])
    for name in names:
        run_once(conn, name)
        rows = [line.split() for line in (stamps / name).read_text().splitlines()]
        steps = sorted((int(number), *map(float, times)) for number, *times in rows)
        for (_, _, _, ended), (_, received, began, _) in pairwise(steps):
            hops.received.append((received - ended) * 1000)
            hops.first_line.append((began - ended) * 1000)
    return hops


def _import_ms(flow: Deployment, file: Path) -> float:
    script = [sys.executable, str(Path(__file__).with_name("imports.py")), str(file), "9"]
    return float(run_floor(script, flow.environment)["p50_ms"])


if __name__ == "__main__":
    main("hop", measure)
