"""T44: a stopped task takes all its processes with it, and nothing it does can prevent that.

SIGTERM first, so that `on_kill` runs; SIGKILL to the whole tree after `kill_grace`, also to what
has left its session. `execution_timeout` is enforced from outside: code in C and code that
swallows every exception end in time. A slot is free when the last descendant is dead, not before.
Children of user code that end by themselves do no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from leaks import has_variable
from waiting import limit, wait_until

BREAKS = [
    # What left the task's session is not killed with it.
    Break(
        "engine/flow/process/family.py",
        "            if pid not in known:\n",
        "            if pid not in known and pid in ():\n",
        test="test_nothing_is_left",
    ),
    # on_kill is not called.
    Break(
        "engine/flow/process/stop.py",
        "        if self._on_kill is not None:\n",
        "        if self._on_kill is None:\n",
        test="test_on_kill_runs",
    ),
    # SIGTERM is all that a try ever gets.
    Break(
        "engine/flow/process/family.py",
        "                member.deadline = None\n                self._kill(member.pid)\n",
        "                member.deadline = None\n",
        test="test_limits_end_everything",
    ),
    # A mark changes a row and stops nothing.
    Break(
        "engine/flow/roles/work/worker.py",
        "                self._jobs.stop(job_id, held, cause, self.settings.kill_grace)\n",
        "                held.cause = cause\n",
        test="test_marking_stops_the_task",
    ),
]

TIMEOUT = 3.0
GRACE = 2.0
SETTINGS = {"worker.slots": 12, "worker.kill_grace": GRACE, "worker.heartbeat": 1}

DAG = """
    import multiprocessing, os, re, signal, subprocess, sys, time
    from datetime import timedelta
    from flow import BaseOperator, DAG, task
    from flow.operators.bash import BashOperator
    from marks import mark, stay

    LINGERING = (
        "import os, signal, time\\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\\n"
        "while True:\\n"
        "    with open(os.environ['CASE_MARKS'] + '/lingering', 'a') as file:\\n"
        "        file.write(f'{time.time()} {os.getpid()}\\\\n')\\n"
        "    time.sleep(0.05)\\n"
    )

    class Careful(BaseOperator):
        def execute(self, context):
            stay(600, self.task_id)

        def on_kill(self):
            mark("on_kill", self.task_id)

    limits = {"execution_timeout": timedelta(seconds=TIMEOUT), "retries": 0}
    with DAG("timeouts", schedule=None, default_args=limits):
        BashOperator(task_id="bash_background", bash_command="sleep 600 & sleep 600")
        Careful(task_id="careful")

        @task
        def own_session():
            subprocess.Popen([sys.executable, "-c", LINGERING], start_new_session=True).wait()

        @task
        def deaf():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            stay(600, "deaf")

        @task
        def code_in_c():
            re.match(r"(a+)+$", "a" * 60 + "b")

        @task
        def swallows_everything():
            while True:
                try:
                    time.sleep(600)
                except BaseException:
                    pass

        for one in (own_session, deaf, code_in_c, swallows_everything):
            one()

    with DAG("children", schedule=None, default_args={"retries": 0}):
        @task
        def pool():
            with multiprocessing.get_context("fork").Pool(2) as workers:
                assert workers.map(abs, [-1, -2]) == [1, 2]

        @task
        def child_ends():
            if os.fork() == 0:
                os._exit(7)
            os.wait()

        pool(), child_ends()

    with DAG("marked", schedule=None, default_args={"retries": 0}):
        Careful(task_id="marked_careful")
    """.replace("TIMEOUT", str(TIMEOUT))

STOPPED = (
    "bash_background",
    "careful",
    "code_in_c",
    "deaf",
    "own_session",
    "swallows_everything",
)


@dataclass(frozen=True)
class Ran:
    """Two runs, on a deployment that still works."""

    deployment: Deployment
    timeouts: str
    children: str

    def the_try(self, task_id: str) -> dict[str, Any]:
        """The only try of a task that ran into its limit."""
        (one,) = self.deployment.tries("timeouts", self.timeouts, task_id)
        return one


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed(SETTINGS) as made:
        made.write("stops.py", DAG)
        made.up()
        made.wait_for_dags("timeouts", "children", "marked")
        yield made


@pytest.fixture(scope="module")
def begun(deployment: Deployment) -> Ran:
    """Runs that may still be at work."""
    children = deployment.run("children")
    return Ran(deployment, deployment.run("timeouts"), children)


@pytest.fixture(scope="module")
def ran(begun: Ran) -> Ran:
    """The same, when all limits have been reached."""
    begun.deployment.wait_for_run("timeouts", begun.timeouts)
    return begun


def processes_of(deployment: Deployment, dag_id: str) -> list[int]:
    """What tasks of a DAG have started and what still lives."""
    return [p for p in deployment.processes() if has_variable(p, "FLOW_CTX_DAG_ID", dag_id)]


def test_limits_end_everything(begun: Ran) -> None:
    assert begun.deployment.wait_for_run("timeouts", begun.timeouts)["state"] == "failed"
    states = begun.deployment.states("timeouts", begun.timeouts)
    assert states == dict.fromkeys(STOPPED, "failed")


@pytest.mark.parametrize("task_id", STOPPED)
def test_it_ends_in_time(ran: Ran, task_id: str) -> None:
    one = ran.the_try(task_id)
    began, ended = (datetime.fromisoformat(one[key]) for key in ("started_at", "ended_at"))
    assert TIMEOUT <= (ended - began).total_seconds() <= TIMEOUT + GRACE + limit(20)
    assert one["reason"].startswith("execution_timeout")


def test_nothing_is_left(ran: Ran) -> None:
    assert processes_of(ran.deployment, "timeouts") == []


def test_a_slot_is_free_only_when_the_last_descendant_is_dead(ran: Ran) -> None:
    text = (ran.deployment.folder / "m" / "lingering").read_text(encoding="utf-8")
    seen = [line.split() for line in text.splitlines()]
    last_sign, pid = float(seen[-1][0]), seen[-1][1]
    assert not Path(f"/proc/{pid}").exists()
    ended = datetime.fromisoformat(ran.the_try("own_session")["ended_at"])
    assert last_sign < ended.timestamp()


def test_on_kill_runs(ran: Ran) -> None:
    events = [mark.event for mark in ran.deployment.marks("careful")]
    assert events.count("on_kill") == 1
    assert "end" not in events


def test_children_that_end_by_themselves_do_no_harm(ran: Ran) -> None:
    assert ran.deployment.wait_for_run("children", ran.children)["state"] == "success"


def test_marking_stops_the_task(deployment: Deployment) -> None:
    run_id = deployment.run("marked")
    wait_until(lambda: deployment.marks("marked_careful"), "the start of the task")
    deployment.ask("tasks", "mark", "marked", run_id, "marked_careful", "failed", "--yes")
    pid = deployment.marks("marked_careful")[0].pid
    wait_until(lambda: not alive(pid), "the end of the marked task")
    assert deployment.wait_for_run("marked", run_id)["state"] == "failed"
    events = [mark.event for mark in deployment.marks("marked_careful")]
    assert events.count("on_kill") == 1


def alive(pid: int) -> bool:
    """Whether a process exists; a zombie counts as dead."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(") ")[2][0] != "Z"
