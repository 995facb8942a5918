"""Memory that runs out, for real: the kernel ends the try that took it, and nothing else is lost.

The worker lives in a control group with a limit on memory, as its unit does with `MemoryMax=`.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from cases.deployment import Deployment, deployed
from waiting import wait_until

HIERARCHIES: Final = (
    (":memory:", Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    ("0::", Path("/sys/fs/cgroup"), "memory.max"),
)
"""Of both versions: the sign of this process's own group, the topmost one, a limit's file."""
LIMIT: Final = 300 << 20
"""Bytes for a worker and its tries: several times what they need."""

DAG = """
import os, time

from flow import DAG, task
from marks import mark

with DAG("greedy", schedule=None):

    @task(retries=1, retry_delay=0)
    def takes_all(ti):
        mark("start", "takes_all")
        hoard = []
        while ti.try_number == 1:
            hoard.append(b"x" * (1 << 20))
        mark("end", "takes_all")

    @task
    def goes_on():
        mark("start", "goes_on")
        while not os.path.exists(os.path.join(os.environ["CASE_MARKS"], "over")):
            time.sleep(0.05)
        mark("end", "goes_on")

    takes_all()
    goes_on()
"""


class Group(NamedTuple):
    """A control group with a limit on memory, and the one in which this process is at home."""

    limited: Path
    home: Path

    @contextmanager
    def joined(self) -> Iterator[None]:
        """What this process starts in the block is in the group, and stays there."""
        _move_to(self.limited)
        try:
            yield
        finally:
            _move_to(self.home)


def _move_to(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _made() -> Group | None:
    """A group with a limit; None where this host has none."""
    own = Path("/proc/self/cgroup").read_text().splitlines()
    for sign, topmost, limit in HIERARCHIES:
        home = [line.partition(sign)[2].strip("/") for line in own if sign in line]
        if home and topmost.is_dir():
            limited = topmost / f"flow-test-{secrets.token_hex(4)}"
            limited.mkdir()
            if (limited / limit).exists():
                (limited / limit).write_text(str(LIMIT))
                return Group(limited, topmost / home[0])
            limited.rmdir()
    return None


@pytest.fixture
def group() -> Iterator[Group]:
    """A group for the test, empty again at its end."""
    if os.geteuid() != 0:
        pytest.skip("only root can limit the memory of a control group")
    made = _made()
    if made is None:
        pytest.skip("no control group of this host can limit memory")
    yield made
    inside = made.limited / "cgroup.procs"
    wait_until(lambda: not inside.read_text(), "the end of all that was in the group")
    made.limited.rmdir()


@pytest.fixture
def deployment(group: Group) -> Iterator[Deployment]:
    """Everything of it is dead before the group goes."""
    with deployed() as made:
        yield made


def test_only_the_try_that_took_it_ends(group: Group, deployment: Deployment) -> None:
    deployment.write("greedy.py", DAG)
    deployment.parse()
    deployment.start("schedule")
    with group.joined():
        worker = deployment.start("work", "--slots", "4")
    run_id = deployment.run("greedy")

    def tried_again() -> bool:
        return any(mark.event == "end" for mark in deployment.marks("takes_all"))

    wait_until(tried_again, "the second try of the greedy task")
    (deployment.folder / "m" / "over").touch()
    assert deployment.wait_for_run("greedy", run_id)["state"] == "success"
    killed, done = deployment.tries("greedy", run_id, "takes_all")
    assert (killed["state"], done["state"]) == ("failed", "success")
    assert killed["reason"].startswith("out_of_memory: the process was killed by SIGKILL")
    [other] = deployment.tries("greedy", run_id, "goes_on")
    assert other["state"] == "success"
    assert [mark.event for mark in deployment.marks("goes_on")] == ["start", "end"]
    assert worker.process.poll() is None
    assert "lost" not in worker.text()
