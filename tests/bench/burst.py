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
HEADSTART = timedelta(seconds=3)
"""For changing rows and gathering statistics before the DAGs are due."""
_FALL_DUE = """
update dag set next_run_at = %(at)s, next_end = %(at)s, next_start = %(at)s - interval '1 day'
where nullif(split_part(dag_id, '.dag_', 2), '')::int < %(due)s
"""
_LEFT = "select exists(select from dag where present and not paused and next_run_at <= %(at)s)"
_QUEUED = """
select count(*), max(queued_at) from task_hot where state = 'queued' and task_id like 'root%'
"""


def measure(results: Results, reduced: bool) -> None:
    """Print the rate against the floor."""
    dags, due = (2_000, 800) if reduced else (20_000, 8_000)
    with deployment() as flow, flow.connect() as conn:
        floors = [flow.floor("burst", "--dags", dags, "--due", due) for _ in range(3)]
        store(conn, dags)
        flow.start("schedule")
        flow.start("work", "--slots", "0")
        flow.await_roles(conn, "schedule", "work")
        seconds = await_queued(conn, fall_due(conn, due), due)
    rate = due * ROOTS / seconds
    floor = medians(floors, "per_s")
    results.line(rate, "tasks/s", floor, AIM, seconds=round(seconds, 3), tasks=due * ROOTS)


def store(conn: Conn, dags: int) -> None:
    """Store DAGs of which none is due for a year."""
    specs = [rooted_spec(number) for number in range(dags)]
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    later = midnight + timedelta(days=400)
    yesterday = midnight - timedelta(days=1)
    store_dags(conn, specs, store_specs(conn, specs), cursor=yesterday, due=lambda number: later)


def fall_due(conn: Conn, due: int) -> datetime:
    """Let the first `due` of the stored DAGs fall due at one moment, which is returned."""
    moment: datetime = one(conn, "select clock_timestamp()") + HEADSTART
    conn.execute(_FALL_DUE, {"at": moment, "due": due})
    conn.execute("vacuum analyze dag")
    assert one(conn, "select clock_timestamp()") < moment, "preparing took longer than planned"
    return moment


def await_queued(conn: Conn, moment: datetime, due: int) -> float:
    """Wait until everything is queued; seconds from `moment` to the last task."""
    wait_for(lambda: not one(conn, _LEFT, {"at": moment}), "the last run")
    queued, last = conn.execute(_QUEUED).fetchone() or (0, moment)
    assert queued == due * ROOTS, f"{queued} tasks are queued, {due * ROOTS} should be"
    return float((last - moment).total_seconds())


if __name__ == "__main__":
    main("burst", measure)
