"""T16: a clear grants a full new set of tries, whose numbers only grow.

With two retries used up, tries 1 to 3, three more may follow. Every try that really started has one
row and one log, and one that never started has none: also when a task is cleared while it waits for
its retry, or for a worker.

Not yet: the waiting states deferred and up_for_reschedule, for which sensors are needed; what a
clear does to them is shown in tests/ops/test_clearing.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from waiting import wait_until

NEEDS = ["flow.sensors"]

BREAKS = [
    # A new set of tries writes over the logs of the old one.
    Break(
        "engine/flow/logs/files.py",
        "attempt={try_number}.log",
        "attempt={(try_number - 1) % 3 + 1}.log",
        test="test_tries_that_were_used_up_are_granted_anew",
    ),
    # The retries stay used up.
    Break(
        "engine/flow/store/tasks.py",
        "  max_tries = case t.state when 'none' then t.try_number + p.max_tries",
        "  max_tries = case t.state when '' then 0",
        test="test_tries_that_were_used_up_are_granted_anew",
    ),
    # A number is lost with each try that never started.
    Break(
        "engine/flow/store/clearing.py",
        "  try_number = t.try_number - (t.try_number > 0",
        "  try_number = t.try_number - (t.try_number < 0",
        test="test_one_that_never_started_leaves_no_gap",
    ),
]

DAG = """
    from datetime import timedelta
    from flow import DAG, task
    from marks import mark

    with DAG("tries", schedule=None):

        @task(retries=2, retry_delay=timedelta(seconds=0.2))
        def bad():
            mark("start")
            raise ValueError("always")

        bad()

    with DAG("waits", schedule=None):

        @task(retries=2, retry_delay=timedelta(hours=1))
        def slow():
            raise ValueError("always")

        slow()

    with DAG("unserved", schedule=None):

        @task(queue="nobody", retries=1, retry_delay=timedelta(hours=1))
        def lonely():
            raise ValueError("always")

        lonely()
    """


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        made.write("tries.py", DAG)
        made.up()
        made.wait_for_dags("tries", "waits", "unserved")
        yield made


def clear(deployment: Deployment, dag_id: str, run_id: str) -> None:
    done = deployment.flow("clear", dag_id, run_id, "--yes")
    assert done.code == 0, done.err


def assert_numbered(deployment: Deployment, dag_id: str, run_id: str, task: str, n: int) -> None:
    """There are exactly the tries 1 to n, each with its times and its log."""
    tries = deployment.tries(dag_id, run_id, task)
    assert [one["try_number"] for one in tries] == list(range(1, n + 1))
    assert all(one["started_at"] and one["ended_at"] for one in tries)
    assert len({one["log"] for one in tries}) == n
    for number in range(1, n + 1):
        log = deployment.flow("logs", dag_id, run_id, task, "--try", str(number))
        assert log.code == 0, log.err
        assert log.out.count("ValueError: always") == 1


def test_tries_that_were_used_up_are_granted_anew(deployment: Deployment) -> None:
    run_id = deployment.run("tries")
    assert deployment.wait_for_run("tries", run_id)["state"] == "failed"
    assert_numbered(deployment, "tries", run_id, "bad", 3)
    clear(deployment, "tries", run_id)
    assert deployment.wait_for_run("tries", run_id)["state"] == "failed"
    assert_numbered(deployment, "tries", run_id, "bad", 6)
    assert [mark.try_number for mark in deployment.marks()] == [1, 2, 3, 4, 5, 6]


def test_one_that_waits_for_its_retry_starts_one_more(deployment: Deployment) -> None:
    run_id = deployment.run("waits")
    for started in (1, 2, 3, 4):
        wait_until(
            lambda started=started: (  # type: ignore[misc]
                len(deployment.tries("waits", run_id, "slow")) == started
                and deployment.states("waits", run_id) == {"slow": "up_for_retry"}
            ),
            f"the end of try {started}",
            pause=0.25,
        )
        assert_numbered(deployment, "waits", run_id, "slow", started)
        clear(deployment, "waits", run_id)


def test_one_that_never_started_leaves_no_gap(deployment: Deployment) -> None:
    run_id = deployment.run("unserved")
    for _ in range(3):
        wait_until(
            lambda: deployment.states("unserved", run_id) == {"lonely": "scheduled"},
            "the task to be ready",
            pause=0.25,
        )
        clear(deployment, "unserved", run_id)
    assert deployment.tries("unserved", run_id, "lonely") == []
    worker = deployment.start("work", "--queues", "nobody")
    wait_until(
        lambda: deployment.states("unserved", run_id) == {"lonely": "up_for_retry"},
        "the end of the first try",
        pause=0.25,
    )
    assert worker.end() == 0
    assert_numbered(deployment, "unserved", run_id, "lonely", 1)
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
