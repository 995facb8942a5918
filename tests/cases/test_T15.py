"""T15: clearing a running task stops it politely, waits for its death, and raises no alarm.

The old process gets SIGTERM and is dead before the new try begins, also when it takes its time,
when the clear is given twice or meant the whole run, and when the task was marked or its process
taken for stopped in between. A task without retries runs again; the new try has a number and a log
of its own; no failure callback is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from cases.armed import Armory
from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.marker_file import lives, overlaps
from waiting import wait_until

NEEDS: list[str] = []

BREAKS = [
    # The next try does not wait for the old process.
    Break(
        "engine/flow/ops/clear_plan.py",
        "        if one.state == TaskState.RUNNING or one.key in stopping\n",
        "        if one.state == TaskState.RUNNING\n",
        test="test_a_marked_task_is_cleared_while_its_process_still_lives",
    ),
    # The death of its process does not count.
    Break(
        "engine/flow/store/migrations/versions/0001_core.sql",
        "    where t.claim = s.claim and t.state in ('running', 'restarting')\n    order by",
        "    where t.claim = s.claim and t.state = 'running'\n    order by",
        test="test_a_running_task_is_cleared",
    ),
    # The old process goes on.
    Break(
        "engine/flow/roles/work/held.py",
        "            return StopCause.CLEARED\n",
        "            return None\n",
        test="test_a_running_task_is_cleared",
    ),
    # A process that handles SIGTERM itself calls back, though nobody waits for it any more.
    Break(
        "engine/flow/process/task.py",
        "if callbacks and runtime.current().counts(failed=failed):",
        "if callbacks:",
        test="test_a_running_task_is_cleared",
    ),
]

DAG = """
    import os, signal, time
    from datetime import timedelta
    from flow import DAG, task
    from marks import mark

    def is_there(name):
        return os.path.exists(os.path.join(os.environ["CASE_MARKS"], name))

    def alarm(context):
        mark("alarm", "alarms")

    with DAG("sleeps", schedule=None, on_failure_callback=alarm,
             default_args={"retries": 0, "on_failure_callback": alarm, "on_retry_callback": alarm}):

        @task
        def sleepy():
            told = []
            signal.signal(signal.SIGTERM, lambda *_: told.append(True))
            mark("start")
            over = time.monotonic() + 600
            while time.monotonic() < over and not is_there("enough"):
                time.sleep(0.05)
                mark("told" if told else "alive")
                if told and is_there("let go"):
                    raise RuntimeError("told to stop")
            mark("end")

        sleepy()
    """
SETTINGS = {"worker.heartbeat": 1, "worker.kill_grace": 300}
"""A grace that is longer than the commands of a test, however busy the machine."""


@contextmanager
def at_work(points: Sequence[str] = ()) -> Iterator[tuple[Deployment, str, Armory]]:
    """A deployment whose one task runs, the id of its run, and fault points that can be armed."""
    with deployed(SETTINGS) as deployment:
        armory = Armory(deployment, points)
        deployment.write("sleeps.py", DAG)
        deployment.up(**armory.environment)
        deployment.wait_for_dags("sleeps")
        run_id = deployment.run("sleeps")
        wait_for_start(deployment, 1)
        yield deployment, run_id, armory


@pytest.fixture
def running() -> Iterator[tuple[Deployment, str]]:
    """The same without fault points."""
    with at_work() as (deployment, run_id, _):
        yield deployment, run_id


def wait_for_start(deployment: Deployment, number: int) -> None:
    wait_until(
        lambda: any(m.try_number == number and m.event == "alive" for m in deployment.marks()),
        f"try {number} to run",
    )


def assert_restarted(deployment: Deployment, run_id: str) -> None:
    """The first try was told, and the second began when it was gone; nobody was alarmed."""
    wait_until(lambda: any(m.event == "told" for m in deployment.marks()), "the polite stop")
    assert {mark.try_number for mark in deployment.marks()} == {1}
    (deployment.folder / "m" / "let go").touch()
    wait_for_start(deployment, 2)
    (deployment.folder / "m" / "enough").touch()
    assert deployment.wait_for_run("sleeps", run_id)["state"] == "success"
    marks = deployment.marks()
    assert [life.try_number for life in lives(marks)] == [1, 2]
    assert overlaps(marks) == []
    assert deployment.marks("alarms") == []
    for number in ("1", "2"):
        log = deployment.flow("logs", "sleeps", run_id, "sleepy", "--try", number)
        assert log.code == 0, log.err
    tries = deployment.tries("sleeps", run_id, "sleepy")
    assert [one["try_number"] for one in tries] == [1, 2]
    assert tries[1]["state"] == "success"
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")


@pytest.mark.parametrize("selection", [("-t", "sleepy"), ()], ids=["the task", "the whole run"])
def test_a_running_task_is_cleared(running: tuple[Deployment, str], selection: tuple[str]) -> None:
    deployment, run_id = running
    cleared = deployment.ask("clear", "sleeps", run_id, *selection, "--yes")
    assert [one["after"] for one in cleared["runs"][0]["tasks"]] == ["restarting"]
    again = deployment.flow("clear", "sleeps", run_id, *selection, "--yes")
    assert again.code == 0, again.err
    assert_restarted(deployment, run_id)
    assert deployment.tries("sleeps", run_id, "sleepy")[0]["state"] == "restarted"


def mark_and_clear(deployment: Deployment, run_id: str) -> None:
    """A mark ends the task and its run at once; its process takes a while to die."""
    marked = deployment.flow("tasks", "mark", "sleeps", run_id, "sleepy", "skipped", "--yes")
    assert marked.code == 0, marked.err
    cleared = deployment.ask("clear", "sleeps", run_id, "--yes")
    assert [one["after"] for one in cleared["runs"][0]["tasks"]] == ["restarting"]


def test_a_marked_task_is_cleared_while_its_process_still_lives(
    running: tuple[Deployment, str],
) -> None:
    mark_and_clear(*running)
    assert_restarted(*running)


@pytest.mark.parametrize("point", ["work.confirm.before_commit", "work.confirm.after_commit"])
def test_a_worker_that_dies_when_it_is_to_say_that_the_process_is_dead(point: str) -> None:
    with at_work([point]) as (deployment, run_id, armory):
        armory.arm(point)
        mark_and_clear(deployment, run_id)
        assert_restarted(deployment, run_id)
        assert armory.has_acted(point)
