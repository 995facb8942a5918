"""contention: four workers of two slots against one of them; the tasks sleep for 200 ms.

Usage: contention.py [--reduced]

Runs of 20 independent tasks; from the first one queued to the last end, by the database's clock.
Beside the rate: how far the share of any of the four is from a quarter.
"""

from __future__ import annotations

from typing import Final

from harness import Aim, Conn, Deployment, Results, deployment, main
from runs import dag_files, many, run_once, span

AIM: Final = Aim(3.0, at_least=True)
EVEN: Final = Aim(1.0)
"""Of the largest deviation that is allowed."""
DEVIATION: Final = 0.20
WORKERS: Final = 4
TASKS: Final = 20
_SHARES: Final = """
select count(*) from try join run using (run_key) where dag_id = 'together' group by worker
"""


def measure(results: Results, reduced: bool) -> None:
    """Print the deviation of shares, and the rate of four workers against that of one."""
    runs = 1 if reduced else 8
    with deployment() as flow, flow.connect() as conn:
        texts = {
            name: many(name, runs=runs * workers, tasks=TASKS, body="time.sleep(0.2)")
            for name, workers in (("alone", 1), ("together", WORKERS))
        }
        dag_files(flow, texts)
        flow.start("schedule")
        alone = _rate(flow, conn, "alone", 1)
        together = _rate(flow, conn, "together", WORKERS)
        counts = [row[0] for row in conn.execute(_SHARES)]
    assert len(counts) == WORKERS, f"{len(counts)} workers took part"
    fair = sum(counts) / WORKERS
    off = max(abs(count - fair) for count in counts) / fair
    results.line(off, "of a share", DEVIATION, EVEN, figure="deviation", workers=WORKERS)
    results.line(together, "tasks/s", alone, AIM, workers=WORKERS)


def _rate(flow: Deployment, conn: Conn, dag_id: str, workers: int) -> float:
    """Tasks a second of so many workers."""
    roles = ["work"] * workers
    started = [flow.start(role, "--slots", "2") for role in roles]
    flow.await_roles(conn, "schedule", *roles)
    run_once(conn, dag_id)
    tasks, seconds = span(conn, dag_id)
    flow.stop(*started)
    return tasks / seconds


if __name__ == "__main__":
    main("contention", measure)
