"""T29: a DAG never has more running runs than its limit, the oldest goes first, and all go.

Thirty past runs are cleared at once, beside a DAG with a thousand queued runs, with two schedulers.
How many runs of a DAG are there at a time, and in which order they start, is judged from what their
tasks mark; another DAG does not have to wait for any of them. A backfill has a limit of its own,
and its DAG's own runs start beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import OVER, Deployment, deployed
from flow.store.connect import connect
from waiting import wait_until

NEEDS: list[str] = []

BREAKS = [
    # One run too many.
    Break(
        "engine/flow/roles/schedule/creation.py",
        "dag.max_active_runs - counts.get(dag.dag_id, Active()).running for dag",
        "1 + dag.max_active_runs - counts.get(dag.dag_id, Active()).running for dag",
        test="test_cleared_runs_go_one_by_one_and_the_oldest_first",
    ),
    # The newest queued run starts first.
    Break(
        "engine/flow/store/runs.py",
        "and not q.paused order by q.logical_date, q.run_key limit d.room) as first\n",
        "and not q.paused order by q.logical_date desc, q.run_key desc limit d.room) as first\n",
        test="test_cleared_runs_go_one_by_one_and_the_oldest_first",
    ),
    # A run that has ended lets nobody start.
    Break(
        "engine/flow/store/migrations/versions/0001_core.sql",
        "  select 'dag', k.dag_id from unnest(dag_ids) as k(dag_id)\n",
        "  select 'dag', k.dag_id from unnest(dag_ids[1:0]) as k(dag_id)\n",
        test="test_cleared_runs_go_one_by_one_and_the_oldest_first",
    ),
    # A backfill has one run too many.
    Break(
        "engine/flow/roles/schedule/backfilling.py",
        "    return one.max_active_runs - counts",
        "    return 1 + one.max_active_runs - counts",
        test="test_a_backfill_has_a_limit_of_its_own",
    ),
    # The limit of the DAG counts the runs of its backfills.
    Break(
        "engine/flow/store/runs.py",
        "select dag_id, count(*) filter (where state = 'running' and backfill_id is null),\n",
        "select dag_id, count(*) filter (where state = 'running'),\n",
        test="test_a_backfill_has_a_limit_of_its_own",
    ),
]

DAYS = 30
AT_A_TIME = 3
QUEUED = 1_000
DAG = """
    import os
    import time
    from flow import DAG, get_current_context, task
    from marks import mark

    def is_there(name):
        return os.path.exists(os.path.join(os.environ["CASE_MARKS"], name))

    def may_end(dag_id, ds):
        if dag_id == "filled":
            return is_there("gate")
        # The last of the cleared runs waits until others have been looked at.
        last = dag_id == "cleared" and ds == "2026-01-30" and is_there("crowd")
        return not last or is_there("looked")

    def make(dag_id, **settings):
        with DAG(dag_id, default_args={"retries": 0}, **settings):

            @task
            def work():
                context = get_current_context()
                mark(context["ds"] + ".start", dag_id)
                time.sleep(0.2)
                while not may_end(dag_id, context["ds"]):
                    time.sleep(0.05)
                mark(context["ds"] + ".end", dag_id)

            work()

    daily = dict(schedule="@daily", start_date="2026-01-01", end_date="2026-01-30", catchup=True)
    make("cleared", max_active_runs=1, **daily)
    make("crowded", max_active_runs=1, schedule=None)
    make("simple", schedule=None)
    make("filled", max_active_runs=1, schedule="@daily", start_date="2026-01-01", catchup="none")
    """


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed({"worker.slots": 4}) as made:
        made.write("three.py", DAG)
        made.up("--schedulers", "2")
        made.wait_for_dags("cleared", "crowded", "simple", "filled")
        yield made


def runs(deployment: Deployment, dag_id: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = deployment.ask("runs", "list", "--all", "--", dag_id)
    return found


def all_over(deployment: Deployment) -> bool:
    found = runs(deployment, "cleared")
    return len(found) == DAYS and all(run["state"] in OVER for run in found)


def crowd(deployment: Deployment) -> None:
    """Put many runs into the queue of a DAG at once, as many commands would."""
    first = deployment.run("crowded")
    with connect(deployment.embedded.dsn, name="case") as conn:
        conn.execute(
            """insert into run (dag_id, version, run_id, run_type, state, logical_date,
                 data_interval_start, data_interval_end, interval_run)
               select dag_id, version, 'crowd_' || n, 'manual', 'queued', at, at, at, false
               from run, generate_series(1, %(count)s) as n,
                 lateral (select logical_date + make_interval(secs => n) as at) as its
               where run_id = %(run_id)s""",
            {"count": QUEUED, "run_id": first},
        )
        conn.execute("insert into wakeup (kind, name) values ('dag', 'crowded')")


def test_cleared_runs_go_one_by_one_and_the_oldest_first(deployment: Deployment) -> None:
    wait_until(lambda: all_over(deployment), "the first pass of all days", seconds=120, pause=0.5)
    before = len(deployment.marks("cleared"))
    crowd(deployment)
    (deployment.folder / "m" / "crowd").touch()
    done = deployment.flow(
        "clear", "cleared", "--from", "2026-01-01", "--to", "2026-01-30", "--yes"
    )
    assert done.code == 0, done.err
    assert deployment.run_to_end("simple")["state"] == "success"

    def look() -> None:
        found = deployment.ask("runs", "list", "--all", "--state", "running")
        running = Counter(run["dag_id"] for run in found)
        assert max(running["cleared"], running["crowded"]) <= 1

    look()
    (deployment.folder / "m" / "looked").touch()
    while not all_over(deployment):
        look()
    for dag_id in ("cleared", "crowded"):
        assert marker_file.overlaps(deployment.marks(dag_id)) == []
    again = [mark.event for mark in deployment.marks("cleared")[before:]]
    days = [f"2026-01-{day:02}" for day in range(1, DAYS + 1)]
    assert again == [f"{day}.{event}" for day in days for event in ("start", "end")]
    assert {run["state"] for run in runs(deployment, "cleared")} == {"success"}


def test_a_backfill_has_a_limit_of_its_own(deployment: Deployment) -> None:
    """Its DAG's own run does not wait for it, and has the limit of the DAG."""
    days = ("--from", "2026-01-01", "--to", "2026-01-30", "--max-active-runs", str(AT_A_TIME))
    backfill = str(deployment.ask("backfill", "filled", *days, "--yes")["id"])
    own = [deployment.run("filled"), deployment.run("filled")]
    wait_until(lambda: len(deployment.marks("filled")) == AT_A_TIME + 1, "all that may start")
    found = Counter((run["state"], run["backfill_id"]) for run in runs(deployment, "filled"))
    running = {("running", int(backfill)): AT_A_TIME, ("running", None): 1}
    assert found == {**running, ("queued", None): 1}
    (deployment.folder / "m" / "gate").touch()
    wait_until(
        lambda: deployment.ask("backfills", "show", backfill)["state"] == "done", "its end", pause=1
    )
    for run_id in own:
        assert deployment.wait_for_run("filled", run_id)["state"] == "success"
    events = [mark.event for mark in deployment.marks("filled")]
    filled = [event for event in events if event.startswith("2026-01")]
    assert len(set(filled)) == len(filled) == 2 * DAYS
    steps = (1 if event.endswith(".start") else -1 for event in filled)
    assert max(accumulate(steps)) == AT_A_TIME


def test_nobody_waits_for_the_queue_of_another_dag(deployment: Deployment) -> None:
    """The simple run was started after all of the others, and had not to wait for them."""
    [simple] = deployment.marks("simple")[:1]
    crowd_before = [mark for mark in deployment.marks("crowded") if mark.at < simple.at]
    last_cleared = deployment.marks("cleared")[-1]
    assert len(crowd_before) < QUEUED
    assert last_cleared.at > simple.at, "the simple run came last"
    order = [mark.at for mark in deployment.marks("crowded")]
    assert order == sorted(order)
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
