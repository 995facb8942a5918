"""A dump of a deployment at work is restored on a fresh server, and everything goes on.

The machine is lost in the midst of work, some time after the dump. On the new one the roles refuse
the empty database and name what to do; from the restored one they finish every run: what had ended
before the dump is not begun again, and everything else runs to its end, no try twice and none
beside another. Judged from what the tasks mark.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cases import steady
from cases.breaks import Break
from cases.deployment import Deployment, deployed
from flow.store.connect import connect
from waiting import wait_until

BREAKS = [
    # Nobody looks whether the schema is there.
    Break("engine/flow/store/migrate.py", "    if found is None:\n", "    if False:\n"),
    # Nobody misses the workers that the dump tells of.
    Break(
        "engine/flow/roles/schedule/role.py",
        "and rescue(self.conn, self.watch, now)",
        "and False",
    ),
]

SETTINGS = {"worker.heartbeat": 0.5, "worker.lost_after": 8, "scheduler.sweep_interval": 1}
ROLES = ("parse", "schedule", "work")
Key = tuple[str, str]
_OF_STATE = """
select r.run_id, t.task_id from task t join run r using (run_key) where t.state = %s
"""


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with deployed(SETTINGS) as made:
        yield made


def test_a_dump_of_a_live_deployment_goes_on_elsewhere(deployment: Deployment) -> None:
    deployment.up("--slots", "4")
    steady.begin(deployment)
    assert deployment.flow("vars", "set", "greeting", "hello").code == 0
    wait_until(lambda: in_state(deployment, "success"), "tasks that have ended")
    dump = deployment.folder / "dump"
    wait_until(lambda: dump_at_work(deployment, dump), "a dump in which tasks run")
    known = in_state(deployment, "success")
    wait_until(lambda: len(in_state(deployment, "success")) > len(known), "work after the dump")
    lose_machine(deployment)
    for role in ROLES:
        done = deployment.flow(role, "--once")
        assert done.code == 5, done.err
        assert "no Flow schema yet" in done.err
        assert "run `flow db migrate`" in done.err

    run_program(deployment, "pg_restore", "--exit-on-error", "--no-owner", str(dump))
    assert deployment.flow("db", "check").code == 0
    assert deployment.ask("vars", "get", "greeting")["value"] == "hello"
    ended, running = in_state(deployment, "success"), in_state(deployment, "running")
    assert running
    restored_at = time.monotonic()
    up = deployment.up("--slots", "4")
    runs = steady.end(deployment)
    assert {run_id for run_id, _ in running} <= set(runs)
    wrong = [
        f"{run_id} {task_id}: {what}"
        for run_id in runs
        for task_id in steady.TASKS
        for what in faults_since(deployment, (run_id, task_id), restored_at, ended)
    ]
    assert wrong == []
    steady.end_all(deployment, up)


def faults_since(deployment: Deployment, key: Key, moment: float, ended: set[Key]) -> list[str]:
    """What is wrong with the life of a task since a moment at which some had ended."""
    later = [mark for mark in deployment.marks(".".join(key)) if mark.at > moment]
    if key not in ended:
        return steady.faults_of(later)
    return ["it had ended, and ran again"] if later else []


def in_state(deployment: Deployment, state: str) -> set[Key]:
    """Runs and tasks in a state."""
    with connect(deployment.embedded.dsn, name="case") as conn:
        return set(conn.execute(_OF_STATE, (state,)).fetchall())


def run_program(deployment: Deployment, name: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on the deployment's database."""
    program = deployment.embedded.binaries.directory / name
    done = subprocess.run(
        [program, f"--dbname={deployment.embedded.start()}", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def dump_at_work(deployment: Deployment, dump: Path) -> bool:
    """Make a dump; whether tasks run in it."""
    run_program(deployment, "pg_dump", "--format=custom", f"--file={dump}")
    rows = ("--data-only", "--table=task_hot", "--file=-", str(dump))
    done = subprocess.run(
        [deployment.embedded.binaries.directory / "pg_restore", *rows],
        capture_output=True,
        text=True,
        check=True,
    )
    return "\trunning\t" in done.stdout


def lose_machine(deployment: Deployment) -> None:
    """Kill every process and put another disk in, with nothing on it but the key of secrets."""
    wait_until(lambda: not deployment.kill_all(), "the end of the killed processes")
    for role in deployment.roles:
        role.wait()
    deployment.roles.clear()
    deployment.embedded.stop()
    lost = deployment.home.rename(deployment.folder / "lost")
    deployment.home.mkdir()
    shutil.copy(lost / "secrets.key", deployment.home)
    deployment.embedded.start()
