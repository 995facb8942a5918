"""A replica takes the place of its primary under load, and nobody has to do anything.

The primary is killed with all its processes and the replica is promoted, while two workers and two
schedulers are busy. Commits waited for the replica, so what was acknowledged is there: every run
that a command has named, every claim, every result. No task has run twice, no worker is lost.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.steady import check_log
from flow.store import invariants
from flow.store.connect import connect
from support.replicated_postgres import Pair, replicated
from waiting import wait_until

BREAKS = [
    # A role ends with its connection.
    Break(
        "engine/flow/roles/loop.py",
        "        except OUTAGES as error:\n",
        "        except ZeroDivisionError as error:\n",
    ),
    # What could not be reported is forgotten.
    Break(
        "engine/flow/roles/work/outbox.py",
        "        fresh = self._records[self._on_disk :]\n",
        "        self._records.clear()\n        fresh = self._records[self._on_disk :]\n",
    ),
]

SETTINGS = {"worker.heartbeat": 1, "worker.lost_after": 60, "scheduler.sweep_interval": 1}
RUNS = 16
STEPS = ("first", "left", "right", "last")
DAG = """
    import os
    from flow import DAG, get_current_context, task
    from marks import stay

    with DAG(
        "busy",
        schedule="* * * * *",
        start_date="2026-03-01T00:00:00",
        end_date="2026-03-01T00:15:00",
        catchup=True,
        max_active_runs=4,
        default_args={"retries": 0},
    ):

        def make(name):
            @task(task_id=name)
            def step():
                context = get_current_context()
                # Half of the work is left for the next primary, however long it takes to come.
                late = context["ts"] >= "2026-03-01T00:08"
                stay(
                    600 if late else 0.4,
                    name + "." + context["run_id"],
                    until=lambda: late and os.path.exists(os.environ["CASE_MARKS"] + "/over"),
                )

            return step()

        first, left, right, last = (make(name) for name in ("first", "left", "right", "last"))
        first >> [left, right] >> last
    """


@pytest.fixture
def pair() -> Iterator[Pair]:
    with replicated() as made:
        yield made


@pytest.fixture
def deployment(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment on the pair, with roles that are there."""
    monkeypatch.setenv("FLOW_DATABASE_URL", pair.url)
    with deployed(SETTINGS) as made:
        assert made.flow("db", "migrate").code == 0
        made.write("busy.py", DAG)
        made.parse()
        for role in ("work", "work", "schedule", "schedule"):
            made.start(role)
        yield made


def test_a_promoted_replica_has_all_that_counts(pair: Pair, deployment: Deployment) -> None:
    wait_until(lambda: ended(deployment) >= RUNS, "the midst of the work")
    named = {run["run_id"] for run in deployment.ask("runs", "list", "--all", "busy")}
    pair.fail_over()
    assert ended(deployment) <= RUNS * len(STEPS) // 2
    (deployment.folder / "m" / "over").touch()
    run_ids = wait_until(lambda: all_over(deployment), "the end of all runs", seconds=60, pause=0.5)
    assert named <= set(run_ids)
    for run_id in run_ids:
        tasks = {task["task_id"]: task for task in deployment.ask("tasks", "list", "busy", run_id)}
        for name in STEPS:
            [life] = marker_file.lives(deployment.marks(f"{name}.{run_id}"))
            assert (life.events[0], life.events[-1]) == ("start", "end")
            assert tasks[name]["state"] == "success"
            assert tasks[name]["try_number"] == life.try_number
            # Of a claim whose answer went down with the primary nobody has heard.
            if life.try_number > 1:
                *unheard, _ = deployment.tries("busy", run_id, name)
                assert {one["state"] for one in unheard} == {"lost"}
    for role in deployment.roles:
        assert "the database does not answer" in role.text()
        assert "declared lost" not in role.text()
        assert "has not counted up" not in role.text()
        check_log(role)
    with connect(pair.url, name="case") as conn:
        assert invariants.breaches(conn) == []
        assert_watched(conn.fileno())


def assert_watched(descriptor: int) -> None:
    """A connection over TCP notices by itself that the other end is gone."""
    with socket.socket(fileno=os.dup(descriptor)) as line:
        assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert 0 < line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 15_000  # ms
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 5  # s


def ended(deployment: Deployment) -> int:
    """How many tasks have marked their end."""
    files = (deployment.folder / "m").iterdir()
    return sum(mark.event == "end" for file in files for mark in marker_file.read(file))


def all_over(deployment: Deployment) -> list[str]:
    """The ids of all runs, when all have succeeded."""
    found = deployment.ask("runs", "list", "--all", "--state", "success", "busy")
    return [run["run_id"] for run in found] if len(found) == RUNS else []
