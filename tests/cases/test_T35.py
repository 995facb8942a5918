"""T35: between queued and running nothing depends on the memory of one process.

Schedulers are killed around the commit that queues tasks, and workers with the tasks they hold.
Every run ends in success although no task has a retry, none is started twice, a task that runs
while schedulers die goes on in the same process, and the pool is empty in the end. A task that was
queued for a worker that died before claiming it goes back, without its slot and at the same try.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.steady import check_log, faults_of
from waiting import wait_until

NEEDS = ["flow events"]  # the return from queued as an entry of its own

BREAKS = [
    Break(
        "engine/flow/roles/schedule/decisions.py",
        "        locked = runs.lock(conn, sorted({w.run_key for w in taken"
        " if w.run_key is not None}))\n",
        "        wakeups.delete(conn, [w.id for w in taken])\n"
        '        conn.execute("commit")\n'
        '        conn.execute("begin")\n'
        "        locked = runs.lock(conn, sorted({w.run_key for w in taken"
        " if w.run_key is not None}))\n",
    ),
    Break(
        "engine/flow/decide/after.py",
        "        return AfterTry(TaskState.SCHEDULED, again=True)\n",
        "        return after_failure(facts)\n",
    ),
    Break(
        "engine/flow/roles/schedule/sweep.py",
        "        returned = gates.unqueue(conn)\n",
        "        returned = 0\n",
    ),
]

POINTS = [
    f"schedule.{name}.{side}_commit" for name in ("decide", "admit") for side in ("before", "after")
]
SETTINGS = {
    "worker.heartbeat": 0.5,
    "worker.lost_after": 5,
    "scheduler.sweep_interval": 1,
    "scheduler.poll_interval": 0.5,
}

DAG = """
    from flow import DAG, get_current_context, task
    from marks import stay

    def name():
        context = get_current_context()
        return context["run_id"] + "." + context["ti"].task_id

    with DAG("handover", schedule=None, max_active_runs=3, default_args={"retries": 0}):
        before = None
        for place in range(12):

            @task(task_id=f"step_{place}", pool="narrow")
            def step():
                stay(0.2, name())

            after = step()
            if before is not None and place % 3:
                before >> after
            before = after

        @task(queue="quiet")
        def outlives_schedulers():
            import os
            over = os.path.join(os.environ["CASE_MARKS"], "over")
            stay(600, name(), until=lambda: os.path.exists(over))

        outlives_schedulers()
    """
STEPS = [f"step_{place}" for place in range(12)]


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


def test_schedulers_and_workers_die_between_queued_and_running(prepared: Deployment) -> None:
    prepared.start("work", "--queues", "quiet")
    workers = [prepared.start("work", "--slots", "2") for _ in range(2)]
    runs = [prepared.run("handover") for _ in range(3)]
    for number in range(16):
        # At its first, second or third pass; what it leaves is up to the next one.
        faults = f"{POINTS[number % len(POINTS)]}=kill@{1 + number % 3}"
        scheduler = prepared.start("schedule", FLOW_FAULTS=faults)
        if number % 5 == 4:
            workers.pop(0).kill()
            workers.append(prepared.start("work", "--slots", "2"))
        assert scheduler.wait() == -signal.SIGKILL, scheduler.text()
    prepared.start("schedule")
    (prepared.folder / "m" / "over").touch()
    for run_id in runs:
        assert prepared.wait_for_run("handover", run_id)["state"] == "success"
        _judge(prepared, run_id)
    assert in_use(prepared) == 0
    for role in prepared.roles:
        check_log(role)


def _judge(deployment: Deployment, run_id: str) -> None:
    for task_id in STEPS:
        assert faults_of(deployment.marks(f"{run_id}.{task_id}")) == [], task_id
    long = marker_file.lives(deployment.marks(f"{run_id}.outlives_schedulers"))
    assert [life.try_number for life in long] == [1]
    assert len(deployment.tries("handover", run_id, "outlives_schedulers")) == 1


def test_what_no_worker_claims_goes_back(prepared: Deployment) -> None:
    prepared.start("schedule")
    idle = prepared.start("work", "--slots", "0")  # a live worker, for which tasks are queued
    run_id = prepared.run("handover")

    def states() -> list[str]:
        found = prepared.states("handover", run_id)
        return [found[task_id] for task_id in STEPS if task_id in found]

    wait_until(lambda: states().count("queued") == 2, "the pool's two tasks to be queued")
    idle.kill()
    wait_until(lambda: "queued" not in states(), "queued tasks to go back")
    assert in_use(prepared) == 0
    (prepared.folder / "m" / "over").touch()
    prepared.start("work", "--queues", "default,quiet")
    assert prepared.wait_for_run("handover", run_id)["state"] == "success"
    for task_id in STEPS:
        assert [
            life.try_number for life in marker_file.lives(prepared.marks(f"{run_id}.{task_id}"))
        ] == [1]
    for role in prepared.roles:
        check_log(role)
