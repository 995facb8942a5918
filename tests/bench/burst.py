"""burst: 8,000 of 20,000 stored DAGs fall due at once; how many root tasks a second get queued.

Usage: burst.py [--reduced]

Each DAG has 25 tasks, 3 of them roots, in the unlimited pool. One `flow schedule` and one
`flow work --slots 0` run and wait; from the moment at which the DAGs are due to the last of 24,000
tasks queued, by the database's clock, against the same done by bare set-based SQL.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from harness import Aim, Conn, Results, deployment, main, medians, one, wait_for
from stored import ROOTS, rooted_spec, store_dags, store_specs

AIM = Aim(0.4, at_least=True)
HEADSTART = timedelta(seconds=6)
"""For storing rows and statistics before the DAGs are due."""


def measure(results: Results, reduced: bool) -> None:
    """Print the rate against the floor."""
    dags, due = (2_000, 800) if reduced else (20_000, 8_000)
    with deployment() as flow, flow.connect() as conn:
        floors = [flow.floor("burst", "--dags", dags, "--due", due) for _ in range(3)]
        specs = [rooted_spec(number) for number in range(dags)]
        hashes = store_specs(conn, specs)
        flow.start("schedule")
        flow.start("work", "--slots", "0")
        flow.await_roles(conn, "schedule", "work")
        moment = one(conn, "select clock_timestamp()") + HEADSTART
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        later = midnight + timedelta(days=400)
        store_dags(
            conn,
            specs,
            hashes,
            cursor=midnight - timedelta(days=1),
            due=lambda number: moment if number < due else later,
        )
        assert one(conn, "select clock_timestamp()") < moment, "preparing took longer than planned"
        seconds = _burst(conn, moment, due)
    rate = due * ROOTS / seconds
    floor = medians(floors, "per_s")
    results.line(rate, "tasks/s", floor, AIM, seconds=round(seconds, 3), tasks=due * ROOTS)


def _burst(conn: Conn, moment: datetime, due: int) -> float:
    """Wait until everything is queued; seconds from `moment` to the last task."""
    left = "select exists(select from dag where present and not paused and next_run_at <= %(at)s)"
    wait_for(lambda: not one(conn, left, {"at": moment}), "the last run")
    queued, last = conn.execute(
        "select count(*), max(queued_at) from task_hot where state = 'queued'"
    ).fetchone() or (0, moment)
    assert queued == due * ROOTS, f"{queued} tasks are queued, {due * ROOTS} should be"
    return float((last - moment).total_seconds())


if __name__ == "__main__":
    main("burst", measure)
