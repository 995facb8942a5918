"""schedulers: the burst with three schedulers against the same with one.

Usage: schedulers.py [--reduced]

8,000 of 20,000 stored DAGs fall due at once. Compared are the time until the last of their root
tasks is queued, and the CPU of the schedulers and PostgreSQL for each of them. Nobody may run into
a row of another's: the server must not have logged a violated key or a deadlock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import burst
import cpu
from harness import Aim, Results, deployment, main
from stored import ROOTS

WALL: Final = Aim(1.15)
CPU: Final = Aim(1.25)
MANY: Final = 3
_COLLISION: Final = re.compile(r"duplicate key value|deadlock detected")


@dataclass(frozen=True, slots=True)
class Burst:
    """What one burst took: seconds, milliseconds of CPU for each task, collisions."""

    seconds: float
    cpu: float
    collisions: int


def measure(results: Results, reduced: bool) -> None:
    """Print time and CPU of three schedulers against one, the worse one last."""
    dags, due = (2_000, 800) if reduced else (20_000, 8_000)
    single, several = (_burst(count, dags, due) for count in (1, MANY))
    collisions = single.collisions + several.collisions
    lines = [
        (several.seconds / single.seconds / WALL.ratio, several.seconds, "s", single.seconds, WALL),
        (several.cpu / single.cpu / CPU.ratio, several.cpu, "CPU-ms/task", single.cpu, CPU),
    ]
    for _, value, unit, floor, aim in sorted(lines, key=lambda line: line[0]):
        results.line(value, unit, floor, aim, schedulers=MANY, collisions=collisions)
    assert collisions == 0, f"{collisions} collisions are in the server's log"


def _burst(schedulers: int, dags: int, due: int) -> Burst:
    with deployment() as flow, flow.connect() as conn:
        burst.store(conn, dags)
        roles = ["schedule"] * schedulers
        pids = [flow.start(role).pid for role in roles]
        flow.start("work", "--slots", "0")
        flow.await_roles(conn, *roles, "work")
        moment = burst.fall_due(conn, due)
        counted, own = [*pids, cpu.postmaster(flow.server)], [conn.info.backend_pid]
        before = cpu.of_trees(counted, own)
        seconds = burst.await_queued(conn, moment, due)
        spent = cpu.of_trees(counted, own) - before
        collisions = len(_COLLISION.findall(flow.server.log_path.read_text()))
    return Burst(seconds, spent * 1000 / (due * ROOTS), collisions)


if __name__ == "__main__":
    main("schedulers", measure)
