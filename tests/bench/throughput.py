"""throughput: how many tasks a second one worker with 8 slots runs that do nothing.

Usage: throughput.py [--reduced]

80 runs of 25 independent `@task` functions that return None, limits off; from the first task queued
to the last result, by the database's clock, against the children a second that a process with the
zygote's modules can fork and reap, 8 at a time.
"""

from __future__ import annotations

from harness import Aim, Conn, Results, deployment, main, medians
from imports import zygote_modules
from runs import dag_files, run_once

AIM = Aim(0.5, at_least=True, guard=0.08)
SLOTS = 8
TASKS = 25
MANY = """\
from datetime import UTC, datetime, timedelta

from flow import DAG, task




@task
def nothing():
    return None


with DAG(
    "many",
    schedule="@daily",
    start_date=datetime({year}, 1, 1, tzinfo=UTC),
    end_date=datetime({year}, 1, 1, tzinfo=UTC) + timedelta(days={runs} - 1),
    catchup=True,
    max_active_runs={runs},
    max_active_tasks={tasks},
):
    for number in range({tasks}):
        nothing.override(task_id=f"task_{{number:02}}")()
"""
SPAN = """
select count(*), extract(epoch from max(ended_at) - min(queued_at))::float8
from task where dag_id = %(dag_id)s
"""


def rate(conn: Conn, dag_id: str, expected: int) -> tuple[float, float]:
    """Tasks a second of a DAG whose runs have all ended, and the seconds that they took."""
    tasks, seconds = conn.execute(SPAN, {"dag_id": dag_id}).fetchone() or (0, 0.0)
    assert tasks == expected, f"{tasks} tasks ended, {expected} should have"
    return tasks / seconds, seconds


def measure(results: Results, reduced: bool) -> None:
    """Print the rate against the floor."""
    runs = 8 if reduced else 80
    with deployment() as flow, flow.connect() as conn:
        dag_files(flow, {"many": MANY.format(year=2020, runs=runs, tasks=TASKS)})
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
