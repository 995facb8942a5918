"""steady: twelve tries a second that do nothing, a million a day; the CPU of each.

Usage: steady.py [--reduced]

Four DAGs of three tasks in a row, each due every second, a quarter of a second after one another;
one `flow schedule`, one `flow work`. Counted for 60 s is the CPU of the scheduler and PostgreSQL,
against the CPU of four durable one-row commits, client and server. (Airflow 3.3's processes use
0.43 seconds of CPU a task on such a machine.)
"""

from __future__ import annotations

import resource
import time
from statistics import mean
from typing import Final

import cpu
from harness import Aim, Deployment, Results, deployment, main, one, wait_for
from runs import dag_files, let_go

AIM: Final = Aim(3.0)
COMMITS: Final = 4
DAGS: Final = 4
MEASURED: Final = 2_000
STEADY: Final = """\
from datetime import UTC, datetime, timedelta

from flow import DAG, chain, task


@task
def nothing():
    return None


with DAG(
    "steady_{number}",
    schedule=timedelta(seconds=1),
    start_date=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds={number} / {dags}),
    catchup=False,
):
    chain(*[nothing.override(task_id=f"task_{{place}}")() for place in range(3)])
"""
_ENDED: Final = "select count(*) from task where state = 'success'"


def measure(results: Results, reduced: bool) -> None:
    """Print CPU a try against four commits."""
    warm, seconds, commits = (1.0, 5.0, 400) if reduced else (5.0, 60.0, MEASURED)
    with deployment() as flow, flow.connect() as conn:
        names = [f"steady_{number}" for number in range(DAGS)]
        texts = {name: STEADY.format(number=n, dags=DAGS) for n, name in enumerate(names)}
        dag_files(flow, texts)
        floors = [_commit_cpu(flow, commits)]
        scheduler = flow.start("schedule")
        flow.start("work", "--slots", "8")
        flow.await_roles(conn, "schedule", "work")
        for name in names:
            let_go(conn, name)
        wait_for(lambda: one(conn, _ENDED) >= 12, "the first tries")
        time.sleep(warm)
        counted, own = [scheduler.pid, cpu.postmaster(flow.server)], [conn.info.backend_pid]
        ended, before, began = one(conn, _ENDED), cpu.of_trees(counted, own), time.monotonic()
        time.sleep(seconds)
        spent = cpu.of_trees(counted, own) - before
        tries, took = one(conn, _ENDED) - ended, time.monotonic() - began
        flow.stop(*flow.roles)
        floors.append(_commit_cpu(flow, commits))
    per_try, rate = spent * 1000 / tries, round(tries / took, 1)
    results.line(per_try, "CPU-ms/try", mean(floors) * COMMITS * 1000, AIM, per_s=rate)


def _commit_cpu(flow: Deployment, commits: int) -> float:
    """Seconds of CPU of one commit, client and server: of many less those of a few."""
    few = 100
    return (_floor_cpu(flow, commits + few) - _floor_cpu(flow, few)) / commits


def _floor_cpu(flow: Deployment, commits: int) -> float:
    server = [cpu.postmaster(flow.server)]
    before = _children() + cpu.of_trees(server)
    flow.floor("commit", commits)
    return _children() + cpu.of_trees(server) - before


def _children() -> float:
    """Seconds of CPU of all children that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main("steady", measure)
