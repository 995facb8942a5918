"""T35: between queued and running nothing depends on the memory of one process.

Schedulers are killed around the commit that queues tasks, and workers with the tasks they hold.
Every run ends in success although no task has a retry, none is started twice, a task that runs
while schedulers die goes on in the same process, and the pool is empty in the end. A task that was
queued for a worker that died before claiming it goes back, without its slot and at the same try.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import psutil
import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, Role, deployed
from cases.steady import check_log, faults_of
from waiting import PATIENCE, wait_until

NEEDS: list[str] = []

BREAKS = [
    Break(
        "engine/flow/roles/schedule/decisions.py",
        "        woken = runs.woken(answers.opening)\n",
        "        woken = runs.woken(answers.opening)\n"
        '        conn.execute("commit")\n'
        '        conn.execute("begin")\n',
        test="test_schedulers_and_workers_die_between_queued_and_running",
    ),
    Break(
        "engine/flow/decide/after.py",
        "        return AfterTry(TaskState.SCHEDULED, again=True)\n",
        "        return after_failure(facts)\n",
        test="test_schedulers_and_workers_die_between_queued_and_running",
    ),
    Break(
        "engine/flow/roles/schedule/sweep.py",
        "        returned = candidates.unqueue(conn)\n",
        "        returned = 0\n",
        test="test_what_no_worker_claims_goes_back",
    ),
]

POINTS = [
    f"schedule.{name}.{side}_commit" for name in ("admit", "decide") for side in ("before", "after")
]
SETTINGS = {
    "worker.heartbeat": 0.5,
    "worker.lost_after": 4 + PATIENCE,
    "scheduler.sweep_interval": 1,
    "scheduler.poll_interval": 0.5,
}

DAG = """
    import os
    from flow import DAG, get_current_context, task
    from marks import stay

    def name():
        context = get_current_context()
        return context["run_id"] + "." + context["ti"].task_id

    with DAG("handover", schedule=None, max_active_runs=3, default_args={"retries": 0}):
        before = None
        for place in range(10):

            @task(task_id=f"step_{place}", pool="narrow")
            def step():
                stay(0.3, name())

            after = step()
            if before is not None:
                before >> after
            before = after

    with DAG("long", schedule=None, default_args={"retries": 0}):

        @task(queue="quiet")
        def outlives():
            over = os.path.join(os.environ["CASE_MARKS"], "over")
            stay(600, "outlives", until=lambda: os.path.exists(over))

        outlives()
    """
STEPS = [f"step_{place}" for place in range(10)]


@pytest.fixture
def prepared() -> Iterator[Deployment]:
    """A deployment with the DAG and its pool, of which nothing runs."""
    with deployed(SETTINGS) as deployment:
        assert deployment.flow("db", "migrate").code == 0
        assert deployment.flow("pools", "set", "narrow", "2").code == 0
        deployment.write("handover.py", DAG)
        deployment.parse()
        yield deployment


def in_use(deployment: Deployment) -> int:
    """Slots of the pool that are taken."""
    pools = {pool["name"]: pool for pool in deployment.ask("pools", "list")}
    return int(pools["narrow"]["queued"] + pools["narrow"]["running"])


def failed(deployment: Deployment) -> list[str]:
    """Runs that have ended badly."""
    found = deployment.ask("runs", "list", "handover", "--all")
    return [run["run_id"] for run in found if run["state"] == "failed"]


def test_schedulers_and_workers_die_between_queued_and_running(prepared: Deployment) -> None:
    quiet = prepared.start("work", "--queues", "quiet")
    workers = [prepared.start("work", "--slots", "2") for _ in range(2)]
    long = prepared.run("long")
    runs = [prepared.run("handover") for _ in range(3)]
    for _ in range(3):
        for point in POINTS:
            scheduler = prepared.start("schedule", FLOW_FAULTS=f"{point}=kill")
            assert scheduler.wait() == -signal.SIGKILL, scheduler.text()
            # The next one finds the results of what this one has queued, and dies over them.
            wait_until(lambda: in_use(prepared) == 0, "the end of all that is queued")
        assert failed(prepared) == []
        scheduler = prepared.start("schedule")
        busy = wait_until(lambda: _busy(prepared, workers, runs), "a worker with a task of a run")
        busy.kill()
        scheduler.kill()
        workers.remove(busy)
        workers.append(prepared.start("work", "--slots", "2"))
    prepared.start("schedule")
    for run_id in runs:
        assert prepared.wait_for_run("handover", run_id)["state"] == "success"
        for task_id in STEPS:
            assert faults_of(prepared.marks(f"{run_id}.{task_id}")) == [], task_id
    assert in_use(prepared) == 0
    (prepared.folder / "m" / "over").touch()
    assert prepared.wait_for_run("long", long)["state"] == "success"
    assert [life.try_number for life in marker_file.lives(prepared.marks("outlives"))] == [1]
    assert len(prepared.tries("long", long, "outlives")) == 1
    assert quiet.end() == 0
    for role in prepared.roles:
        check_log(role)


def _busy(deployment: Deployment, workers: list[Role], runs: list[str]) -> Role | None:
    """A worker with a live process that has marked a start of one of these runs' tasks."""
    for run_id in runs:
        for task_id in STEPS:
            marks = deployment.marks(f"{run_id}.{task_id}")
            if marks and marks[-1].event != "end":
                above = _ancestors(marks[-1].pid)
                for worker in workers:
                    if worker.process.pid in above:
                        return worker
    return None


def _ancestors(pid: int) -> set[int]:
    try:
        return {parent.pid for parent in psutil.Process(pid).parents()}
    except psutil.NoSuchProcess:
        return set()


def test_what_no_worker_claims_goes_back(prepared: Deployment) -> None:
    prepared.start("schedule")
    idle = prepared.start("work", "--slots", "0")  # a live worker, for which tasks are queued
    run_id = prepared.run("handover")

    def state() -> str:
        return prepared.states("handover", run_id)["step_0"]

    wait_until(lambda: state() == "queued", "the first task to be queued")
    assert in_use(prepared) == 1
    idle.kill()
    wait_until(lambda: state() == "scheduled", "the queued task to go back")
    why = prepared.ask("why", "handover", run_id, "step_0")
    assert "queue_unserved" in {reason["code"] for reason in why["reasons"]}
    assert in_use(prepared) == 0
    prepared.start("work")
    assert prepared.wait_for_run("handover", run_id)["state"] == "success"
    for task_id in STEPS:
        assert [
            life.try_number for life in marker_file.lives(prepared.marks(f"{run_id}.{task_id}"))
        ] == [1]
    for role in prepared.roles:
        check_log(role)
