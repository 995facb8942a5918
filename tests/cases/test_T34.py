"""T34: an outage of the database ends no role, and no task runs twice or loses its result.

The server is really stopped in the middle of five tasks and started again, for less and for more
than a worker may be out of contact, and all of its sessions are ended at once. What ends meanwhile
is reported afterwards; what cannot prove any more that it counts is ended by its own worker, before
anybody could start it again. `test_failover`, `test_half_open`, `test_kept_results` and
`test_lost_contact` have the outages in which more than the server fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import psutil

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.steady import check_log
from flow.store.connect import connect
from waiting import wait_until

ROLES = ("parse", "schedule", "work")
TASKS = tuple(f"nap_{number}" for number in range(5))
EARLY = TASKS[:2]
"""Those that end in the outage."""

BREAKS = [
    # An outage ends a role.
    Break(
        "engine/flow/roles/loop.py",
        "            log_failure(name, error)\n        else:\n",
        "            raise\n        else:\n",
        test="test_what_ends_in_an_outage_is_reported_after_it",
    ),
    # A worker without contact lets its tries go on for ever.
    Break(
        "engine/flow/process/zygote.py",
        '            self._family.kill_all("lease")\n',
        "            pass\n",
        test="test_an_outage_longer_than_the_lease_ends_tries_and_overlaps_none",
    ),
    # What was to be reported when the line broke is forgotten.
    Break(
        "engine/flow/roles/work/role.py",
        "            worker.keep_results()\n",
        "            worker._outbox.clear()\n",
        test="test_what_ends_in_an_outage_is_reported_after_it",
    ),
]

DAG = """
import os

from flow import DAG, get_current_context, task
from marks import stay

with DAG("naps", schedule=None, default_args={"retries": 0}):
    for number in range(5):

        @task(task_id="nap_" + str(number))
        def nap():
            ti = get_current_context()["ti"]
            go = os.path.join(os.environ["CASE_MARKS"], "go_" + ti.task_id)
            stay(600, ti.task_id, until=lambda: os.path.exists(go))
            return ti.try_number

        nap()
"""


@dataclass
class Scene:
    """Five tasks at work, under roles that no server is started for."""

    deployment: Deployment
    run_id: str

    def let_go(self, *task_ids: str) -> None:
        """Let tasks end, and wait until they have."""
        for task_id in task_ids:
            (self.deployment.folder / "m" / f"go_{task_id}").touch()
        wait_until(lambda: all(map(self._has_ended, task_ids)), f"the end of {task_ids}")

    def _has_ended(self, task_id: str) -> bool:
        return self.deployment.marks(task_id)[-1].event == "end"

    def is_alive(self, task_id: str) -> bool:
        """Whether the process of the first try is there."""
        return psutil.pid_exists(self.deployment.marks(task_id)[0].pid)

    def wait_for_insight(self) -> None:
        """Wait until every role has noticed that there is no database."""

        def noticed() -> bool:
            self.assert_roles_live()
            return all("trying again" in role.text() for role in self.deployment.roles)

        wait_until(noticed, "roles that miss the database")

    def assert_roles_live(self) -> None:
        ended = {role.name: role.process.poll() for role in self.deployment.roles}
        assert ended == dict.fromkeys(ROLES)

    def assert_done(self, tries: dict[str, list[str]]) -> None:
        """The run succeeds; tries ended so, each with a process of its own, one after the other."""
        deployment = self.deployment
        self.assert_roles_live()
        assert deployment.wait_for_run("naps", self.run_id)["state"] == "success"
        for task_id, states in tries.items():
            found = deployment.tries("naps", self.run_id, task_id)
            assert [one["state"] for one in found] == states
            marks = deployment.marks(task_id)
            lives = marker_file.lives(marks)
            assert [life.try_number for life in lives] == [*range(1, len(states) + 1)]
            assert [life.events.count("start") for life in lives] == [1] * len(states)
            assert marker_file.overlaps(marks) == []
            value = deployment.ask("xcom", "get", "naps", self.run_id, task_id)
            assert value["value"] == len(states)
        for role in deployment.roles:
            check_log(role)


@contextmanager
def at_work(lost_after: float) -> Iterator[Scene]:
    """All five tasks run. Nobody but the test starts the server."""
    settings = {"worker.heartbeat": 0.5, "worker.lost_after": lost_after, "worker.slots": 8}
    with deployed(settings) as made:
        assert made.flow("db", "migrate").code == 0
        made.write("naps.py", DAG)
        made.parse()
        host = quote(str(made.embedded.socket_directory), safe="")
        for role in ROLES:
            made.start(role, FLOW_DATABASE_URL=f"postgresql://flow@/flow?host={host}")
        scene = Scene(made, made.run("naps"))
        wait_until(lambda: all(map(made.marks, TASKS)), "the start of all tasks")
        yield scene


def test_what_ends_in_an_outage_is_reported_after_it() -> None:
    with at_work(lost_after=600) as scene:
        server = scene.deployment.embedded
        server.stop()
        scene.wait_for_insight()
        scene.let_go(*EARLY)
        worker = scene.deployment.roles[-1]
        wait_until(lambda: "results are kept in" in worker.text(), "the results on disk")
        server.start()
        scene.let_go(*TASKS[2:])
        scene.assert_done({task_id: ["success"] for task_id in TASKS})


def test_sessions_that_are_ended_are_opened_again() -> None:
    with at_work(lost_after=600) as scene:
        with connect(scene.deployment.embedded.dsn, name="case") as conn:
            ended = conn.execute(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                "where pid <> pg_backend_pid() and backend_type = 'client backend'"
            ).fetchone()
        assert ended is not None
        assert ended[0] >= len(ROLES)
        scene.wait_for_insight()
        scene.let_go(*TASKS)
        scene.assert_done({task_id: ["success"] for task_id in TASKS})


def test_an_outage_longer_than_the_lease_ends_tries_and_overlaps_none() -> None:
    with at_work(lost_after=2) as scene:
        server = scene.deployment.embedded
        server.stop()
        scene.let_go(*EARLY)
        late = TASKS[2:]
        wait_until(
            lambda: not any(map(scene.is_alive, late)),
            "the end of the tries that nobody can vouch for",
        )
        scene.wait_for_insight()
        for task_id in late:
            (scene.deployment.folder / "m" / f"go_{task_id}").touch()
        server.start()
        ends = {task_id: ["lease_expired", "success"] for task_id in late}
        scene.assert_done(ends | {task_id: ["success"] for task_id in EARLY})
