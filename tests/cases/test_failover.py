"""A replica takes the place of its primary under load, and nobody has to do anything.

The primary is killed with all its processes and the replica is promoted, while two workers and two
schedulers are busy. Commits waited for the replica, so what was acknowledged is there: every run
that a command has named, every claim, every result. No task has run twice, no worker is lost.
"""

from __future__ import annotations

import json
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
        '        with transaction(conn, "work.report"):\n',
        '        self._records.clear()\n        with transaction(conn, "work.report"):\n',
    ),
]

SETTINGS = {"worker.heartbeat": 1, "worker.lost_after": 60, "scheduler.sweep_interval": 1}
RUNS = 8
STEPS = ("first", "left", "right", "last")
DAG = """
    from flow import DAG, get_current_context, task
    from marks import stay

    with DAG("busy", schedule=None, max_active_runs=50, default_args={"retries": 0}):

        def make(name):
            @task(task_id=name)
            def step():
                stay(0.4, name + "." + get_current_context()["run_id"])

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
        for role in ("schedule", "schedule", "work", "work"):
            made.start(role)
        made.wait_for_roles("schedule", "work")
        yield made


def test_a_promoted_replica_has_all_that_counts(pair: Pair, deployment: Deployment) -> None:
    answers = deployment.together([("run", "-o", "json", "--", "busy")] * RUNS, 2)
    run_ids = [json.loads(done.out)["run_id"] for done in answers]
    wait_until(lambda: ended(deployment, run_ids) >= RUNS, "the midst of the work")
    pair.fail_over()
    assert ended(deployment, run_ids) < RUNS * len(STEPS), "all was over before"
    for run_id in run_ids:
        assert deployment.wait_for_run("busy", run_id)["state"] == "success"
        for name in STEPS:
            [life] = marker_file.lives(deployment.marks(f"{name}.{run_id}"))
            assert (life.events[0], life.events[-1]) == ("start", "end")
            *unheard, done = deployment.tries("busy", run_id, name)
            assert done["state"] == "success"
            assert done["try_number"] == life.try_number
            # Of a claim whose answer went down with the primary nobody has heard.
            assert {one["state"] for one in unheard} <= {"lost"}
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


def ended(deployment: Deployment, run_ids: list[str]) -> int:
    """How many tasks of these runs have marked their end."""
    return sum(
        any(mark.event == "end" for mark in deployment.marks(f"{name}.{run_id}"))
        for run_id in run_ids
        for name in STEPS
    )
