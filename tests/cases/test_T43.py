"""T43: how a task's process ends is how the try ends, and the exit is stored and shown.

SystemExit 0 or None is success, any other code a failure; a process that dies without a reported
result has failed, whatever its code; bash's skip code skips; everything has a reason. Retries apply
to each way of failing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from waiting import limit

NEEDS: list[str] = []

BREAKS = [
    Break(
        "engine/flow/process/task.py",
        "    if code is None or code == 0:\n",
        "    if code is None:\n",
        test="test_states",
    ),
    Break(
        "engine/flow/process/task.py",
        "    if isinstance(error, SystemExit):\n        return _judge_exit(error, ended)\n",
        "    if isinstance(error, SystemExit):\n        return _End(TaskState.SUCCESS, ended)\n",
        test="test_states",
    ),
    Break(
        "engine/flow/process/ending.py",
        "    reason = _death(ended)\n",
        "    if ended.exit_code == 0:\n"
        "        return _reported(task, ended, Outcome(state=TaskState.SUCCESS, ended=0.0))\n"
        "    reason = _death(ended)\n",
        test="test_states",
    ),
    Break(
        "engine/flow/operators/bash.py",
        "        if code in self.skip_on_exit_code:\n",
        "        if code in ():\n",
        test="test_states",
    ),
    # A failure is the last word.
    Break(
        "engine/flow/decide/after.py",
        "    if not may_retry or facts.try_number >= facts.max_tries:\n",
        "    if facts.try_number:\n",
        test="test_retries_apply_however_a_try_has_failed",
    ),
]

DAG = """
    import os, signal, sys
    from datetime import timedelta
    from flow import DAG, task
    from flow.operators.bash import BashOperator

    with DAG("ends", schedule=None, default_args={"retries": 0}):

        @task
        def exit_zero():
            sys.exit(0)

        @task
        def exit_none():
            sys.exit()

        @task
        def exit_three():
            sys.exit(3)

        @task
        def exit_text():
            sys.exit("no more rows")

        @task
        def builtin_exit_zero():
            exit(0)

        @task
        def hard_exit_zero():
            os._exit(0)

        @task
        def hard_exit_three():
            os._exit(3)

        @task
        def segmentation_fault():
            os.kill(os.getpid(), signal.SIGSEGV)

        @task
        def interrupted():
            raise KeyboardInterrupt

        for one in (exit_zero, exit_none, exit_three, exit_text, builtin_exit_zero,
                    hard_exit_zero, hard_exit_three, segmentation_fault, interrupted):
            one()
        BashOperator(task_id="bash_skip", bash_command="exit 99")
        BashOperator(task_id="bash_last_counts", bash_command="false; true")

    retrying = {"retries": 1, "retry_delay": timedelta(seconds=0.1)}
    with DAG("again", schedule=None, default_args=retrying):

        @task
        def exits(ti=None):
            sys.exit(3 if ti.try_number == 1 else 0)

        @task
        def dies(ti=None):
            if ti.try_number == 1:
                os._exit(0)

        @task
        def is_killed(ti=None):
            if ti.try_number == 1:
                os.kill(os.getpid(), signal.SIGKILL)

        exits(), dies(), is_killed()
    """


@dataclass(frozen=True)
class End:
    """What is to be seen of a task: state, a piece of its reason, exit code, signal."""

    state: str
    reason: str | None = None
    exit_code: int | None = 0
    signal: int | None = None


EXPECTED = {
    "exit_zero": End("success"),
    "exit_none": End("success"),
    "exit_three": End("failed", "exit code 3", exit_code=3),
    "exit_text": End("failed", "no more rows", exit_code=1),
    "builtin_exit_zero": End("success"),
    "hard_exit_zero": End("failed", "exit code 0 and reported no result"),
    "hard_exit_three": End("failed", "exit code 3 and reported no result", exit_code=3),
    "segmentation_fault": End("failed", "SIGSEGV", exit_code=None, signal=11),
    "bash_skip": End("skipped", "exit code 99", exit_code=99),
    "bash_last_counts": End("success"),
    "interrupted": End("failed", "KeyboardInterrupt"),
}


@dataclass(frozen=True)
class Ran:
    """A run that is over, on a deployment that still answers."""

    deployment: Deployment
    run: dict[str, Any]
    tries: dict[str, list[dict[str, Any]]]
    """Of every task."""

    def the_try(self, task_id: str) -> dict[str, Any]:
        """The only try of a task."""
        (one,) = self.tries[task_id]
        return one


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed({"worker.slots": 4}) as made:
        made.write("ends.py", DAG)
        made.up()
        made.wait_for_dags("ends", "again")
        yield made


@pytest.fixture(scope="module")
def ran(deployment: Deployment) -> Ran:
    run = deployment.run_to_end("ends")
    tries = {task_id: deployment.tries("ends", run["run_id"], task_id) for task_id in EXPECTED}
    return Ran(deployment, run, tries)


def test_states(ran: Ran) -> None:
    assert ran.deployment.states("ends", ran.run["run_id"]) == {
        task_id: end.state for task_id, end in EXPECTED.items()
    }
    assert ran.run["state"] == "failed"


def test_retries_apply_however_a_try_has_failed(deployment: Deployment) -> None:
    run = deployment.run_to_end("again")
    for task_id, reason in (
        ("exits", "exit code 3"),
        ("dies", "exit code 0 and reported no result"),
        ("is_killed", "SIGKILL"),
    ):
        first, second = deployment.tries("again", run["run_id"], task_id)
        assert (first["state"], second["state"]) == ("failed", "success"), task_id
        assert reason in first["reason"]
    assert run["state"] == "success"


@pytest.mark.parametrize("task_id", EXPECTED)
def test_exit_and_reason_are_shown(ran: Ran, task_id: str) -> None:
    expected, found = EXPECTED[task_id], ran.the_try(task_id)
    assert (found["state"], found["exit_code"], found["signal"]) == (
        expected.state,
        expected.exit_code,
        expected.signal,
    )
    if expected.reason is None:
        assert found["reason"] is None
    else:
        assert expected.reason in found["reason"]


@pytest.mark.parametrize("task_id", EXPECTED)
def test_every_end_is_seen_soon(ran: Ran, task_id: str) -> None:
    found = ran.the_try(task_id)
    began, ended = (datetime.fromisoformat(found[key]) for key in ("started_at", "ended_at"))
    assert (ended - began).total_seconds() < limit(30)


@pytest.mark.parametrize(
    ("task_id", "words"),
    [
        ("exit_three", "Task called sys.exit: exit code 3"),
        ("exit_text", "Task called sys.exit: exit code 1: no more rows"),
        ("interrupted", "KeyboardInterrupt"),
        ("bash_skip", "Skipped: exit code 99"),
    ],
)
def test_the_exit_stands_in_the_log(ran: Ran, task_id: str, words: str) -> None:
    said = ran.deployment.flow("logs", "ends", ran.run["run_id"], task_id)
    assert said.code == 0
    assert words in said.out
