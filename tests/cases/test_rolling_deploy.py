"""Workers are replaced one after the other under load, and no task notices more than a new try.

A worker that is told to end claims nothing more. What it runs may go on for `drain_timeout`; then
it is stopped politely and goes on elsewhere, without a retry: no task here has one. A task that
handles the signal itself, and fails over it, is no exception. A second signal ends it at once.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, Role, deployed
from cases.steady import check_log, faults_of
from waiting import limit, wait_until

BREAKS = [
    # A draining worker goes on claiming.
    Break(
        "engine/flow/roles/work/worker.py",
        "        return not self.draining and self._jobs.used < self._slots.now\n",
        "        return self._jobs.used < self._slots.now\n",
        test="test_a_draining_worker_claims_nothing",
    ),
    # How a task fails over its stop is its own failure.
    Break(
        "engine/flow/process/ending.py",
        "        return outcome.state == TaskState.FAILED\n",
        "        return False\n",
        test="test_one_worker_after_the_other_is_replaced",
    ),
    # A drained try has cost a retry.
    Break(
        "engine/flow/process/ending.py",
        "after_loss(task), TryState.DRAINED",
        "after_failure(task), TryState.DRAINED",
        test="test_one_worker_after_the_other_is_replaced",
    ),
]

LOAD = 12
DAG = """
    import os, signal, time
    from flow import DAG, get_current_context, task
    from marks import mark, stay

    def is_there(name):
        return os.path.exists(os.path.join(os.environ["CASE_MARKS"], name))

    def first_try():
        return get_current_context()["ti"].try_number == 1

    with DAG("load", schedule=None, max_active_runs=50, default_args={"retries": 0}):

        @task
        def short(name):
            stay(0.3, name + "." + get_current_context()["run_id"])

        short.override(task_id="one")("one") >> short.override(task_id="two")("two")

    with DAG("long", schedule=None, default_args={"retries": 0}):

        @task
        def polite():
            stay(600 if first_try() else 0.1, "polite")

        @task(on_failure_callback=lambda context: mark("called", "own_way"))
        def own_way():
            def refuse(*_):
                raise RuntimeError("interrupted")

            signal.signal(signal.SIGTERM, refuse)
            stay(600 if first_try() else 0.1, "own_way")

        @task
        def deaf():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            stay(600 if first_try() else 0.1, "deaf")

        @task
        def nearly_done():
            stay(600, "nearly_done", until=lambda: is_there("finish"))

        polite(), own_way(), deaf(), nearly_done()
    """
LONG = ("polite", "own_way", "deaf", "nearly_done")
SETTINGS = {"worker.heartbeat": 1, "worker.lost_after": 60, "worker.kill_grace": 2}


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with deployed(SETTINGS) as made:
        assert made.flow("db", "migrate").code == 0
        made.write("load.py", DAG)
        made.parse()
        made.start("schedule")
        yield made


def start_worker(deployment: Deployment) -> Role:
    worker = deployment.start("work", "--slots", "4", "--drain-timeout", str(limit(2)))
    wait_until(lambda: "ready: " in worker.text(), "the worker")
    return worker


def start_long(deployment: Deployment) -> str:
    run_id = deployment.run("long")
    for name in LONG:
        wait_until(lambda: deployment.marks(name), f"the start of {name}")  # noqa: B023 - at once
    return run_id


def test_one_worker_after_the_other_is_replaced(deployment: Deployment) -> None:
    first = start_worker(deployment)
    long = start_long(deployment)
    second = start_worker(deployment)
    runs = [done.out for done in deployment.together([("run", "load", "-o", "json")] * LOAD, 2)]
    assert len(set(runs)) == LOAD
    first.send(signal.SIGTERM)
    (deployment.folder / "m" / "finish").touch()
    assert first.wait() == 0
    start_worker(deployment)
    assert second.end() == 0
    for run in deployment.ask("runs", "list", "--all", "load"):
        done = deployment.wait_for_run("load", run["run_id"])
        assert done["state"] == "success"
        for name in ("one", "two"):
            assert faults_of(deployment.marks(f"{name}.{run['run_id']}")) == []
    assert deployment.wait_for_run("long", long)["state"] == "success"
    for name in LONG:
        marks = [mark for mark in deployment.marks(name) if mark.event != "called"]
        tries = [one["state"] for one in deployment.tries("long", long, name)]
        assert tries == (["success"] if name == "nearly_done" else ["drained", "success"]), name
        assert marker_file.overlaps(marks) == []
    assert "called" not in [mark.event for mark in deployment.marks("own_way")]
    for role in deployment.roles:
        assert "lost" not in role.text()
        check_log(role)


def test_a_draining_worker_claims_nothing(deployment: Deployment) -> None:
    worker = deployment.start("work", "--slots", "5", "--drain-timeout", "3600")
    long = start_long(deployment)
    deployment.start("work", "--slots", "0")  # for whom tasks are queued
    worker.send(signal.SIGTERM)
    wait_until(lambda: "draining" in worker.text(), "the drain")
    load = deployment.run("load")
    wait_until(lambda: deployment.states("load", load)["one"] not in ("none", "scheduled"), "work")
    (deployment.folder / "m" / "finish").touch()
    wait_until(
        lambda: deployment.states("long", long)["nearly_done"] == "success", "another free slot"
    )
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0
    assert deployment.marks(f"one.{load}") == []


def test_a_second_signal_ends_at_once_and_costs_no_retry(deployment: Deployment) -> None:
    worker = deployment.start("work", "--slots", "4", "--drain-timeout", "3600")
    long = start_long(deployment)
    (deployment.folder / "m" / "finish").touch()
    worker.send(signal.SIGTERM)
    wait_until(lambda: "draining" in worker.text(), "the drain")
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0
    start_worker(deployment)
    assert deployment.wait_for_run("long", long)["state"] == "success"
    for name in ("polite", "own_way", "deaf"):
        tries = [one["state"] for one in deployment.tries("long", long, name)]
        assert tries == ["drained", "success"]
