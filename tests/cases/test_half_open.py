"""A line that stands still and closes nothing costs no task its try, and keeps nobody from ending.

The lines of schedulers and workers freeze in the midst of a run: nothing comes through any more,
and nothing says so. The roles give them up, find others, and the run succeeds as if nothing had
been. With a database that does not answer at all, they end when they are told to.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.steady import check_log
from flow.store.connect import STATEMENT_TIMEOUT
from support.stalling_proxy import StallingProxy
from waiting import limit, wait_until

BREAKS = [
    # Whoever waits for an answer waits for ever.
    Break(
        "engine/flow/store/connect.py",
        "            if not ready and time.monotonic() - began >= limit():\n",
        "            if False:\n",
        test="test_frozen_lines_are_given_up",
    ),
    # A signal waits for the answer as well.
    Break(
        "engine/flow/roles/loop.py",
        "            shorten_waits(_LAST_PATIENCE)\n",
        "            pass\n",
        test="test_roles_end_while_nothing_answers",
    ),
]

DAG = """
    import os
    from flow import DAG, task
    from marks import stay

    with DAG("chain", schedule=None, default_args={"retries": 0}):
        above = None
        for place in range(4):

            @task(task_id=f"step_{place}")
            def step(name):
                go = os.path.join(os.environ["CASE_MARKS"], "go")
                stay(600, name, until=lambda: os.path.exists(go))

            below = step(f"step_{place}")
            if above is not None:
                above >> below
            above = below
    """
STEPS = [f"step_{place}" for place in range(4)]


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    """A deployment with the DAG, of which nothing runs."""
    with deployed({"worker.heartbeat": 1, "worker.lost_after": 25}) as made:
        assert made.flow("db", "migrate").code == 0
        made.write("chain.py", DAG)
        made.parse()
        yield made


@pytest.fixture
def line(deployment: Deployment) -> Iterator[StallingProxy]:
    """The way of its roles to its database."""
    folder = deployment.folder / "line"
    with StallingProxy(folder, deployment.embedded.socket_directory) as made:
        yield made


def test_frozen_lines_are_given_up(deployment: Deployment, line: StallingProxy) -> None:
    scheduler, worker = (
        deployment.start(role, FLOW_DATABASE_URL=line.url) for role in ("schedule", "work")
    )
    run_id = deployment.run("chain")
    wait_until(lambda: deployment.marks("step_0"), "the first task")
    line.freeze()
    (deployment.folder / "m" / "go").touch()
    assert deployment.wait_for_run("chain", run_id)["state"] == "success"
    for step in STEPS:
        assert [life.try_number for life in marker_file.lives(deployment.marks(step))] == [1]
    for role in (scheduler, worker):
        assert "no answer within 10 s" in role.text()
        check_log(role)


def test_roles_end_while_nothing_answers(deployment: Deployment, line: StallingProxy) -> None:
    """Each stands in a call that would last for minutes."""
    scheduler, worker = (
        deployment.start(role, FLOW_DATABASE_URL=line.url, FLOW_WORKER_LOST_AFTER="3000")
        for role in ("schedule", "work")
    )
    deployment.wait_for_roles("schedule", "work")
    line.stall()
    began = time.monotonic()
    for role in (scheduler, worker):
        role.send(signal.SIGTERM)
    worker.send(signal.SIGINT)  # another SIGTERM might come as one with the first
    assert [role.wait() for role in (scheduler, worker)] == [0, 0]
    assert time.monotonic() - began < min(limit(20), STATEMENT_TIMEOUT)
