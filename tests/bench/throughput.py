"""throughput: how many tasks a second one worker with 8 slots runs that do nothing.

Usage: throughput.py [--reduced]

80 runs of 25 independent `@task` functions that return None, limits off; from the first task queued
to the last result, by the database's clock, against the children a second that a process with the
zygote's modules can fork and reap, 8 at a time.
"""

from __future__ import annotations

from harness import Aim, Results, deployment, main, medians
from imports import zygote_modules
from runs import dag_files, many, rate, run_once

AIM = Aim(0.5, at_least=True, guard=0.08)
SLOTS = 8
TASKS = 25


def measure(results: Results, reduced: bool) -> None:
    """Print the rate against the floor."""
    runs = 8 if reduced else 80
    with deployment() as flow, flow.connect() as conn:
        dag_files(flow, {"many": many("many", runs=runs, tasks=TASKS, body="return None")})
        fork = ("--load", ",".join(zygote_modules()), "--jobs", SLOTS)
        floors = [flow.floor("fork", *fork, server=False)]
        flow.start("schedule")
        flow.start("work", "--slots", str(SLOTS))
        flow.await_roles(conn, "schedule", "work")
        run_once(conn, "many")
        floors.append(flow.floor("fork", *fork, server=False))
        tasks = runs * TASKS
        per_s, seconds = rate(conn, "many", tasks)
    results.line(per_s, "tasks/s", medians(floors, "per_s"), AIM, seconds=seconds, tasks=tasks)


if __name__ == "__main__":
    main("throughput", measure)
