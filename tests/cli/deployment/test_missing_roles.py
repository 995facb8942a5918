"""Verbs that wait say it when nobody is there who would do what they wait for."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flow.graph import TaskSpec
from flow.ops import clearing, missing_roles, running
from flow.ops.missing_roles import UnservedQueue
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from operations_world import World
from waiting import limit, wait_until

NO_SCHEDULER = (
    "Warning: no scheduler is alive: nothing goes on until one is started, with `flow up` or "
    "`flow schedule`\n"
)
NO_WORKER = (
    "Warning: no live worker serves queue gpu of executor local: train cannot start until one "
    "does, with `flow work --queues gpu`\n"
)
DAY = "2026-07-08"
MADE = ("models", "--from", "2026-07-09", "--to", "2026-07-09", "--yes")


@pytest.fixture
def models(world: World) -> World:
    """DAG `models` with a finished run; in its latest version one task needs queue `gpu`."""
    _define(world, queue="default")
    running.run(world.deployment, Wish("models", date=DAY))
    world.finish()
    _define(world, queue="gpu")
    return world


def _define(world: World, queue: str) -> None:
    tasks = [
        TaskSpec(task_id="extract", operator="BashOperator"),
        TaskSpec(task_id="notify", operator="EmptyOperator", queue="none", runs_code=False),
        TaskSpec(task_id="train", operator="BashOperator", queue=queue),
    ]
    start = datetime(2026, 7, 1, tzinfo=UTC)
    world.define("models", tasks, schedule="@daily", start_date=start, catchup="none")


def _told(command: tuple[str, ...], until: str, environment: dict[str, str], project: Path) -> str:
    """What a waiting verb has said once it has said something; then it is interrupted."""
    said = project / "said"
    with said.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "flow_cli", *command],
            cwd=project,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
        try:
            wait_until(lambda: until in said.read_text() or process.poll(), f"{until!r}")
            process.send_signal(signal.SIGINT)
            assert process.wait(limit(60)) == 130
        finally:
            process.kill()
            process.wait()
    return said.read_text()


@pytest.mark.parametrize(
    "command",
    [
        ("run", "models", "--wait"),
        ("clear", "models", DAY, "-t", "train", "--yes", "--wait"),
        ("backfill", *MADE, "--wait"),
    ],
    ids=lambda command: command[0],
)
def test_waiting_warns_of_the_roles_that_are_missing(models, environment, project, command):
    assert NO_SCHEDULER + NO_WORKER in _told(command, NO_WORKER, environment, project)


def test_a_backfill_that_is_followed_warns_too(models, flow, environment, project):
    assert flow("backfill", *MADE).code == 0
    told = _told(("backfills", "show", "-f"), NO_WORKER, environment, project)
    assert NO_SCHEDULER + NO_WORKER in told


def test_only_what_is_still_to_run_needs_a_worker(models):
    """`train` has ended and stays so, and `notify` has nothing to run."""
    of_run = Which(DAY)
    cleared = clearing.clear(models.deployment, clearing.Wish("models", of_run, "extract,notify"))
    assert missing_roles.for_runs(models.deployment, cleared.cleared).queues == []
    cleared = clearing.clear(models.deployment, clearing.Wish("models", of_run, "train"))
    assert missing_roles.for_runs(models.deployment, cleared.cleared).queues == [
        UnservedQueue("local", "gpu", ["train"])
    ]


def test_who_is_there_is_not_missed(models, flow):
    models.start_scheduler()
    started = flow("run", "models", "--run-id", "it")
    assert started.err == f"{NO_WORKER}see how it is doing: flow runs show models it\n"
