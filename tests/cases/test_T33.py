"""T33: who is silent is lost once, and only who is silent.

The supervisor of a worker stands still for longer than the threshold. Its zygote ends what it runs
before anybody may start the next try, the loss is handled once, and what the supervisor says when
it goes on does not count: not even the success of a task that ended meanwhile. What was
committed before counts. Hosts that are merely busy lose nothing, and a threshold that a heartbeat
or two could miss is refused.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass

import psutil
import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, Role, deployed
from cases.steady import check_log
from waiting import PATIENCE, limit, wait_until

NEEDS: list[str] = []

BREAKS = [
    Break(
        "engine/flow/process/zygote.py",
        '            self._family.kill_all("lease")\n',
        "            pass\n",
        test="test_a_stopped_supervisor_is_lost_once",
    ),
    Break(
        "engine/flow/decide/after.py",
        "    if facts.losses < MAX_LOSSES:\n",
        "    if facts.losses > MAX_LOSSES:\n",
        test="test_a_stopped_supervisor_is_lost_once",
    ),
    Break(
        "engine/flow/roles/work/worker.py",
        "        if not alive:\n            self._on_lost()\n            return\n",
        "        if not alive:\n            return\n",
        test="test_a_stopped_supervisor_is_lost_once",
    ),
    Break(
        "engine/flow/roles/schedule/rescue.py",
        "            silent = silent + passed if counter == process.heartbeat else 0.0\n",
        "            silent = silent + passed\n",
        test="test_a_stopped_supervisor_is_lost_once",
    ),
    Break(
        "engine/flow/config.py",
        "    if worker.lost_after < least:\n",
        "    if worker.lost_after < 0:\n",
        test="test_a_threshold_of_less_than_three_heartbeats_is_refused",
    ),
]

LOST_AFTER = 3 + int(PATIENCE)
SETTINGS = {"worker.heartbeat": 1, "worker.lost_after": LOST_AFTER, "scheduler.sweep_interval": 1}
TASKS = ("until_killed", "ends_meanwhile")
SIGNS = 30 * LOST_AFTER
"""Signs of life, twenty a second: for longer than it takes to be lost."""

DAG = """
    import os
    from flow import DAG, get_current_context, task
    from marks import mark, stay

    def is_there(name):
        return os.path.exists(os.path.join(os.environ["CASE_MARKS"], name))

    def number():
        return get_current_context()["ti"].try_number

    with DAG("silent", schedule=None, default_args={"retries": 0}):

        @task
        def until_killed():
            stay(600, "until_killed", until=lambda: number() > 1 and is_there("again"))
            return number()

        @task
        def ends_meanwhile():
            stay(600, "ends_meanwhile", until=lambda: is_there(("", "stopped", "again")[number()]))
            return number()

        until_killed()
        ends_meanwhile()

    with DAG("busy", schedule=None, max_active_tasks=50, default_args={"retries": 0}):

        def burner(name):
            @task(task_id=name)
            def burn():
                mark("start", name)
                total = sum(n * n for n in range(2_000_000))
                mark("end", name)

            burn()

        for place in range(50):
            burner("burn_" + str(place))
    """


@dataclass(frozen=True)
class Scene:
    """Two tasks on one worker, and another worker that has nothing to do."""

    deployment: Deployment
    silent: Role
    other: Role
    run_id: str

    def signal_tasks(self, name: str) -> None:
        """Let tasks see that something has happened."""
        (self.deployment.folder / "m" / name).touch()

    def wait_for_life(self, number: int) -> None:
        """Wait for signs of life of a try of the other worker, which nobody may lose.

        An older try beside it could not miss so many, nor a scheduler that counts no heartbeats.
        """

        def alive() -> bool:
            assert "was declared lost" not in self.other.text()
            marks = self.deployment.marks("until_killed")
            return sum(mark.try_number == number for mark in marks) > SIGNS

        wait_until(alive, f"try {number} at work")


def wait_for_starts(deployment: Deployment, number: int) -> None:
    """Wait until both tasks have started a try of this number."""

    def started() -> bool:
        return all(
            any(mark.try_number == number for mark in deployment.marks(task_id))
            for task_id in TASKS
        )

    wait_until(started, f"try {number} of both tasks")


@pytest.fixture
def parsed() -> Iterator[Deployment]:
    """A deployment whose DAGs are stored and of which nothing runs."""
    with deployed(SETTINGS) as fresh:
        assert fresh.flow("db", "migrate").code == 0
        fresh.write("silent.py", DAG)
        fresh.parse()
        yield fresh


def enact(deployment: Deployment, **faults: str) -> Scene:
    """Start a worker, two tasks on it, and then a second worker."""
    silent = deployment.start("work", "--slots", "4", **faults)
    run_id = deployment.run("silent")
    wait_for_starts(deployment, 1)
    other = deployment.start("work", "--slots", "4")
    wait_until(lambda: "ready: " in other.text(), "the other worker")
    return Scene(deployment, silent, other, run_id)


def stop_past_the_threshold(scene: Scene) -> None:
    """Stop the supervisor, let one of its tasks end, wait for the next tries, and continue it."""
    scene.silent.send(signal.SIGSTOP)
    scene.signal_tasks("stopped")
    wait_for_starts(scene.deployment, 2)
    scene.wait_for_life(2)
    scene.silent.send(signal.SIGCONT)
    wait_until(lambda: "was declared lost" in scene.silent.text(), "the old supervisor's insight")
    scene.signal_tasks("again")


def assert_lost_once(scene: Scene, *, overlapping: bool = False) -> None:
    """One loss, one more try, no overlap unless it is `overlapping`, and the second result."""
    deployment, run_id = scene.deployment, scene.run_id
    assert deployment.wait_for_run("silent", run_id)["state"] == "success"
    told = deployment.ask("events", "silent", run_id, "--all")
    losses = [one["task_id"] for one in told if one["state"] == "lost"]
    assert sorted(losses) == sorted(TASKS)
    for task_id in TASKS:
        lost, done = deployment.tries("silent", run_id, task_id)
        assert (lost["state"], done["state"]) == ("lost", "success")
        said = f"worker {lost['worker']} lost: no heartbeat for {LOST_AFTER} s"
        assert said in lost["reason"]
        marks = deployment.marks(task_id)
        assert [life.try_number for life in marker_file.lives(marks)] == [1, 2]
        assert overlapping or marker_file.overlaps(marks) == []
        value = deployment.ask("xcom", "get", "silent", run_id, task_id)
        assert value["value"] == 2
    assert deployment.marks("until_killed")[-1].event == "end"
    assert [mark.event for mark in deployment.marks("until_killed")].count("end") == 1
    for role in deployment.roles:
        check_log(role)


def test_a_stopped_supervisor_is_lost_once(parsed: Deployment) -> None:
    scheduler = parsed.start("schedule")
    scene = enact(parsed)
    stop_past_the_threshold(scene)
    assert_lost_once(scene)
    said = [line for line in scheduler.text().splitlines() if line.endswith("lost")]
    assert len(said) == 1
    assert f"(pid {scene.silent.process.pid}) has not counted up for {LOST_AFTER} s" in said[0]


def test_a_result_that_was_committed_wins(parsed: Deployment) -> None:
    """The supervisor stands still behind its commit, and is lost over its other task alone."""
    parsed.start("schedule")
    scene = enact(parsed, FLOW_FAULTS="work.report.after_commit=stop@1")
    scene.signal_tasks("stopped")
    wait_until(
        lambda: any(mark.try_number == 2 for mark in parsed.marks("until_killed")),
        "try 2 of the task that was lost",
    )
    scene.silent.send(signal.SIGCONT)
    wait_until(lambda: "was declared lost" in scene.silent.text(), "the old supervisor's insight")
    scene.signal_tasks("again")
    assert parsed.wait_for_run("silent", scene.run_id)["state"] == "success"
    tries = {
        task_id: [one["state"] for one in parsed.tries("silent", scene.run_id, task_id)]
        for task_id in TASKS
    }
    assert tries == {"until_killed": ["lost", "success"], "ends_meanwhile": ["success"]}
    assert parsed.ask("xcom", "get", "silent", scene.run_id, "ends_meanwhile")["value"] == 1
    assert [life.try_number for life in marker_file.lives(parsed.marks("ends_meanwhile"))] == [1]
    for role in parsed.roles:
        check_log(role)


def test_stopped_together_they_cannot_keep_two_tries_apart(parsed: Deployment) -> None:
    """Supervisor and zygote stand still, and what they started goes on: nobody is left on the host
    who could end it, so the old try and the new one overlap until the two go on. That is all: then
    the old one is killed at once, and nothing of it counts, not even the success in between.
    """
    parsed.start("schedule")
    scene = enact(parsed)
    [zygote] = psutil.Process(scene.silent.process.pid).children()
    [old] = {mark.pid for mark in parsed.marks("until_killed")}
    zygote.suspend()
    stopped = scene.silent
    stopped.send(signal.SIGSTOP)
    scene.signal_tasks("stopped")
    wait_for_starts(parsed, 2)
    before = len(parsed.marks("until_killed"))
    wait_until(
        lambda: old in {mark.pid for mark in parsed.marks("until_killed")[before:]},
        "the old try beside the new one",
    )
    zygote.resume()
    wait_until(lambda: not psutil.pid_exists(old), "the end of the old try by its zygote alone")
    stopped.send(signal.SIGCONT)
    wait_until(lambda: "was declared lost" in stopped.text(), "the old supervisor's insight")
    scene.signal_tasks("again")
    assert_lost_once(scene, overlapping=True)


def test_the_loss_survives_the_death_of_those_who_handle_it(parsed: Deployment) -> None:
    """Schedulers are killed before and after the commit, the zygote as it is to end its tries."""
    dying = [
        parsed.start("schedule", FLOW_FAULTS=f"schedule.lose.{side}_commit=kill")
        for side in ("before", "after")
    ]
    scene = enact(parsed, FLOW_FAULTS="zygote.lease.expired=kill")
    scene.silent.send(signal.SIGSTOP)
    scene.signal_tasks("stopped")
    for scheduler in dying:
        assert scheduler.wait() == -signal.SIGKILL
    parsed.start("schedule")
    wait_for_starts(parsed, 2)
    scene.silent.send(signal.SIGCONT)
    wait_until(lambda: "was declared lost" in scene.silent.text(), "the old supervisor's insight")
    scene.signal_tasks("again")
    assert_lost_once(scene)


def test_a_busy_host_loses_nothing(parsed: Deployment) -> None:
    parsed.start("schedule")
    # Nobody is to be lost here, so the threshold may be one that other tests cannot reach either.
    most = {"FLOW_WORKER_LOST_AFTER": str(limit(10))}
    workers = [parsed.start("work", "--slots", "8", **most) for _ in range(2)]
    run = parsed.run_to_end("busy")
    assert run["state"] == "success"
    for place in range(50):
        events = [mark.event for mark in parsed.marks(f"burn_{place}")]
        assert events == ["start", "end"], place
    assert all("lost" not in worker.text() for worker in workers)


def test_a_threshold_of_less_than_three_heartbeats_is_refused(deployment: Deployment) -> None:
    for command in (("work", "--once"), ("schedule", "--once"), ("up",)):
        done = deployment.flow(*command, FLOW_WORKER_HEARTBEAT="10", FLOW_WORKER_LOST_AFTER="29")
        assert done.code == 2
        assert "worker.lost_after" in done.err
        assert "30 s or more" in done.err
