"""A run that is ended before its tasks is over when their processes are dead.

By its time limit, or by its first failure: what has not begun is skipped, what runs gets SIGTERM
and its grace, then SIGKILL to all of it. When the run is over nothing of it lives, so that a clear
at that moment starts no try beside an old one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, deployed
from waiting import wait_until

BREAKS = [
    # A run is over while its processes live.
    Break(
        "engine/flow/decide/run.py",
        "        elif not decision.stops:\n            decision.verdict,",
        "        else:\n            decision.verdict,",
    ),
    # What has not begun is left as it is.
    Break(
        "engine/flow/decide/run.py",
        "            elif state not in FINISHED:\n"
        "                self._end(task_id, TaskState.SKIPPED, text)\n",
        "",
    ),
]

GRACE = 2.0
SETTINGS = {"worker.slots": 8, "worker.kill_grace": GRACE, "worker.heartbeat": 1}
DAG = """
    import os, signal, time
    from datetime import timedelta
    from flow import BaseOperator, DAG, get_current_context, task
    from marks import mark, stay

    def is_there(name):
        return os.path.exists(os.path.join(os.environ["CASE_MARKS"], name))

    def told(context):
        with open(os.path.join(os.environ["CASE_MARKS"], "called_back"), "a") as file:
            file.write(context["dag"].dag_id + " " + context["reason"] + "\\n")

    def wrong(context):
        raise AssertionError("a task that was stopped calls nothing back")

    class Polite(BaseOperator):
        def execute(self, context):
            stay(600, self.dag.dag_id + "_polite", until=lambda: is_there("again"))

        def on_kill(self):
            mark("on_kill", self.dag.dag_id + "_polite")

    def make(dag_id, **settings):
        with DAG(dag_id, schedule=None, on_failure_callback=told, **settings):

            @task(retries=5, retry_delay=timedelta(0), on_failure_callback=wrong)
            def deaf():
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                stay(600, dag_id + "_deaf", until=lambda: is_there("again"))

            @task
            def fails():
                started = lambda name: is_there(dag_id + name)
                while not (is_there("again") or started("_deaf") and started("_polite")):
                    time.sleep(0.02)
                if not is_there("again"):
                    raise RuntimeError("for once")

            @task
            def later():
                mark("later", dag_id)

            [deaf(), Polite(task_id="polite")] >> later()
            if settings.get("fail_fast"):
                fails()

    make("limited", dagrun_timeout=timedelta(seconds=15))
    make("together", fail_fast=True)
    """
REASONS = {
    "limited": "dagrun_timeout: the run was not over after 15 s",
    "together": "fail_fast: fails failed",
}


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed(SETTINGS) as made:
        made.write("endings.py", DAG)
        made.up("--schedulers", "2")
        made.wait_for_dags(*REASONS)
        yield made


def tasks(deployment: Deployment, dag_id: str, run_id: str) -> dict[str, dict[str, Any]]:
    found = deployment.ask("tasks", "list", "--", dag_id, run_id)
    return {task["task_id"]: task for task in found}


@pytest.mark.parametrize("dag_id", list(REASONS))
def test_it_is_over_when_nothing_of_it_lives(deployment: Deployment, dag_id: str) -> None:
    again = deployment.folder / "m" / "again"
    again.unlink(missing_ok=True)
    run = deployment.run_to_end(dag_id)
    alive = {
        mark.pid
        for name in ("deaf", "polite")
        for mark in deployment.marks(f"{dag_id}_{name}")
        if Path(f"/proc/{mark.pid}").exists()
    }
    assert (run["state"], alive) == ("failed", set())
    states = deployment.states(dag_id, run["run_id"])
    stopped = dict.fromkeys(("deaf", "polite", "later"), "skipped")
    assert states == stopped | ({"fails": "failed"} if dag_id == "together" else {})
    [last] = [deployment.tries(dag_id, run["run_id"], name)[-1] for name in ("deaf",)]
    assert (last["state"], last["signal"], last["reason"]) == ("skipped", 9, REASONS[dag_id])
    assert [mark.event for mark in deployment.marks(f"{dag_id}_polite")][-1] == "on_kill"
    called_back = deployment.folder / "m" / "called_back"
    wait_until(
        lambda: called_back.exists() and f"{dag_id} {REASONS[dag_id]}" in called_back.read_text(),
        "the callback of the run",
    )
    again.touch()
    done = deployment.flow("clear", dag_id, run["run_id"], "--yes")
    assert done.code == 0, done.err
    assert deployment.wait_for_run(dag_id, run["run_id"])["state"] == "success"
    for name in ("deaf", "polite"):
        assert marker_file.overlaps(deployment.marks(f"{dag_id}_{name}")) == []
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
