"""backfill: how many tasks a second a backfill runs, against the same worker on runs of a schedule.

Usage: backfill.py [--reduced]

365 intervals of 10 independent `@task` functions that return None, 16 runs at a time, with
`flow backfill`; the floor is what bench `throughput` measures, in the same deployment.
"""

from __future__ import annotations

from harness import Aim, Results, deployment, main, one, wait_for
from runs import dag_files, many, rate, run_once
from throughput import SLOTS, TASKS

AIM = Aim(0.8, at_least=True)
AT_A_TIME = 16
FILLED_TASKS = 10
FILLED = """\
from datetime import UTC, datetime

from flow import DAG, task


@task
def nothing():
    return None


with DAG("filled", schedule="@daily", start_date=datetime(2019, 1, 1, tzinfo=UTC), catchup="none"):
    for number in range({tasks}):
        nothing.override(task_id=f"task_{{number}}")()
"""
_OVER = "select exists(select from backfill where state = 'done')"


def measure(results: Results, reduced: bool) -> None:
    """Print the backfill's rate against that of the schedule's runs."""
    runs, last = (8, "2019-02-09") if reduced else (80, "2019-12-31")
    with deployment() as flow, flow.connect() as conn:
        files = {
            "many": many("many", runs=runs, tasks=TASKS, body="return None"),
            "filled": FILLED.format(tasks=FILLED_TASKS),
        }
        dag_files(flow, files)
        flow.start("schedule")
        flow.start("work", "--slots", str(SLOTS))
        flow.await_roles(conn, "schedule", "work")
        run_once(conn, "many")
        floor, _ = rate(conn, "many", runs * TASKS)
        flow.flow(
            *("backfill", "filled", "--from", "2019-01-01", "--to", last),
            *("--max-active-runs", str(AT_A_TIME), "--yes", "--detach"),
        )
        wait_for(lambda: bool(one(conn, _OVER)), "the end of the backfill")
        intervals = one(conn, "select count(*) from backfill_interval")
        tasks = intervals * FILLED_TASKS
        per_s, seconds = rate(conn, "filled", tasks)
    results.line(per_s, "tasks/s", floor, AIM, seconds=seconds, tasks=tasks, intervals=intervals)


if __name__ == "__main__":
    main("backfill", measure)
