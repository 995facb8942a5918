"""A result that cannot be reported waits on disk, and a successor on the host reports it.

The worker has lost the database when its task ends. Then it is killed, or told to end at once; its
successor reports the result before it frees what was claimed, also when it is killed on the way
itself. The task has run once. A damaged file is set aside, and its task runs again.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, Role, deployed
from cases.steady import check_log
from support.stalling_proxy import StallingProxy
from waiting import wait_until

BREAKS = [
    # What cannot be reported is in memory only.
    Break(
        "engine/flow/roles/work/role.py",
        "            worker.keep_results()\n",
        "            pass\n",
        test="test_a_successor_reports_it_before_it_frees_anything",
    ),
    # The successor frees the claims first.
    Break(
        "engine/flow/roles/work/succession.py",
        "        _deliver(conn, process_id, kept.path_of(home, process_id))\n",
        "",
        test="test_told_to_end_at_once_it_leaves_the_result_to_its_successor",
    ),
    # Half a record counts as none, and the file is tried again by everybody who starts.
    Break(
        "engine/flow/roles/work/succession.py",
        "        if damaged:\n",
        "        if False:\n",
        test="test_a_damaged_file_is_set_aside_and_its_task_runs_again",
    ),
]

DAG = """
    import os
    from flow import DAG, get_current_context, task
    from marks import stay

    with DAG("kept", schedule=None, default_args={"retries": 0}):

        @task
        def work():
            go = os.path.join(os.environ["CASE_MARKS"], "go")
            stay(600, "work", until=lambda: os.path.exists(go))
            return get_current_context()["ti"].try_number

        work()
    """


@dataclass
class Scene:
    """A task whose worker has lost the database, and that has ended since."""

    deployment: Deployment
    worker: Role
    run_id: str

    @property
    def results(self) -> list[Path]:
        """What is kept on disk."""
        return list((self.deployment.home / "run").glob("*.results*"))

    def successor(self, **faults: str) -> Role:
        """The next worker of this home, with a line to the database."""
        return self.deployment.start("work", **faults)

    def assert_done(self, tries: list[str]) -> None:
        """The run succeeds after tries that ended like this, and none of them overlapped."""
        deployment = self.deployment
        assert deployment.wait_for_run("kept", self.run_id)["state"] == "success"
        found = deployment.tries("kept", self.run_id, "work")
        assert [one["state"] for one in found] == tries
        marks = deployment.marks("work")
        assert [life.try_number for life in marker_file.lives(marks)] == [
            number + 1 for number in range(len(tries))
        ]
        assert marker_file.overlaps(marks) == []
        value = deployment.ask("xcom", "get", "kept", self.run_id, "work")
        assert value["value"] == len(tries)
        for role in deployment.roles:
            check_log(role)


@pytest.fixture
def scene() -> Iterator[Scene]:
    with deployed({"worker.heartbeat": 1, "worker.lost_after": 600}) as deployment:
        assert deployment.flow("db", "migrate").code == 0
        deployment.write("kept.py", DAG)
        deployment.parse()
        deployment.start("schedule")
        with StallingProxy(
            deployment.folder / "line", deployment.embedded.socket_directory
        ) as line:
            worker = deployment.start("work", FLOW_DATABASE_URL=line.url)
            run_id = deployment.run("kept")
            wait_until(lambda: deployment.marks("work"), "the start of the task")
        made = Scene(deployment, worker, run_id)
        wait_until(lambda: "trying again" in worker.text(), "the loss of the database")
        (deployment.folder / "m" / "go").touch()
        wait_until(lambda: "results are kept in" in worker.text(), "the result on disk")
        yield made


def test_a_successor_reports_it_before_it_frees_anything(scene: Scene) -> None:
    """Killed around the commit itself, it leaves the rest to the next one."""
    scene.worker.kill()
    for side in ("before", "after"):
        killed = scene.successor(FLOW_FAULTS=f"work.deliver.{side}_commit=kill")
        assert killed.wait() == -signal.SIGKILL, killed.text()
        assert len(scene.results) == 1
    assert "1 results; 0 of them count" not in killed.text()
    scene.successor()
    scene.assert_done(["success"])
    wait_until(lambda: not scene.results, "the end of the file")


def test_told_to_end_at_once_it_leaves_the_result_to_its_successor(scene: Scene) -> None:
    scene.worker.send(signal.SIGTERM)
    wait_until(lambda: "draining" in scene.worker.text(), "the first signal to be heard")
    scene.worker.send(signal.SIGTERM)
    assert scene.worker.wait() == 0
    assert "the next worker here reports what is kept" in scene.worker.text()
    scene.successor()
    scene.assert_done(["success"])


def test_it_reports_it_itself_when_the_database_is_back(scene: Scene) -> None:
    deployment = scene.deployment
    with StallingProxy(deployment.folder / "line", deployment.embedded.socket_directory):
        scene.assert_done(["success"])
        wait_until(lambda: not scene.results, "the end of the file")
        assert scene.worker.end() == 0, scene.worker.text()


def test_a_damaged_file_is_set_aside_and_its_task_runs_again(scene: Scene) -> None:
    scene.worker.kill()
    [file] = scene.results
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    successor = scene.successor()
    scene.assert_done(["lost", "success"])
    assert "not all of it can be used" in successor.text()
    assert [one.name for one in scene.results] == [f"{file.name}.damaged"]
