"""Every process of a deployment is killed at every named point of its code, in the midst of work.

No task is lost, none is started twice under one try, no two tries of one overlap, every run ends
in success, nothing is left running, and the sweep that repairs what cannot happen finds nothing.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from itertools import zip_longest

import psutil
import pytest

from cases import steady
from cases.armed import Armory
from cases.breaks import REPOSITORY
from cases.deployment import Deployment, Role, deployed
from waiting import wait_until

SETTINGS = {
    "worker.heartbeat": 0.5,
    "worker.lost_after": 60,
    "worker.kill_grace": 2,
    "scheduler.sweep_interval": 1,
    "parse.interval": 1,
}
UP = ("--schedulers", "2", "--workers", "2", "--slots", "4")


def around(*transactions: str) -> list[str]:
    """The points before and after the commit of transactions."""
    return [f"{name}.{side}_commit" for name in transactions for side in ("before", "after")]


WORKING = {
    "schedule": around(
        "schedule.create", "schedule.decide", "schedule.admit", "schedule.sweep",
        "schedule.heartbeat",
    ),
    "work": [
        *around("work.claim", "work.report", "work.heartbeat", "work.note", "work.answer"),
        "host.start.before_send", "host.ended.received",
    ],
    "zygote": [
        "zygote.start.received", "zygote.start.before_fork", "zygote.start.after_fork",
        "zygote.ended.before_send", "zygote.refill.before_fork",
        "child.order.received", "child.job.done",
    ],
}  # fmt: skip
"""Points that work comes by sooner or later."""

STARTING = {
    "schedule": around("schedule.register"),
    "work": around("work.register", "work.succeed"),
    "parse": around("parse.register"),
}
"""Points that a role comes by when it starts after another one's death."""

PARSING = around("parse.heartbeat", "parse.store", "parse.fail", "parse.hide")

ENDING = [
    ("work.drain.before_commit", "schedule.retire.before_commit", "parse.retire.before_commit"),
    ("work.drain.after_commit", "schedule.retire.after_commit", "parse.retire.after_commit"),
    ("work.retire.before_commit",),
    ("work.retire.after_commit",),
]
"""Points that roles come by when they are told to stop; those of one row fit one end."""

ELSEWHERE = {
    *around("schedule.lose"),  # test_T33: takes a worker that is silent
    "zygote.lease.expired",
    *around("work.release"),  # tests/roles/work: takes a lost answer to a claim
}

POINTS = [
    *(point for points in WORKING.values() for point in points),
    *(point for points in STARTING.values() for point in points),
    *PARSING,
    *(point for row in ENDING for point in row),
]


def test_every_point_of_roles_and_processes_is_here() -> None:
    found = set()
    for part in ("roles", "process"):
        for path in (REPOSITORY / "engine/flow" / part).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            found |= set(re.findall(r'faults\.point\("([^"]+)"\)', text))
            found |= set(around(*re.findall(r'transaction\([\w.]+, "([^"]+)"', text)))
    assert found == {*POINTS, *ELSEWHERE}


class Attack:
    """A deployment at work, and points to strike at."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.armory = Armory(deployment, POINTS)
        self.up = self._up()
        steady.begin(deployment)

    def _up(self) -> Role:
        return self.deployment.up(*UP, **self.armory.environment)

    def strike(self, point: str, provoke: Callable[[], object] = lambda: None) -> None:
        """Arm a point, do what brings somebody there, and wait until it has killed."""
        self.armory.arm(point)
        provoke()
        self.armory.wait(point)

    def kill_one(self, role: str) -> None:
        """SIGKILL a process of a role, whichever."""
        found = wait_until(lambda: self._members(role), f"a process of {role}")
        found[0].send_signal(signal.SIGKILL)

    def _members(self, role: str) -> list[psutil.Process]:
        members = psutil.Process(self.up.process.pid).children()
        return [one for one in members if role in _arguments(one)]

    def end_at(self, points: tuple[str, ...]) -> None:
        """Stop everything with points armed, and start it again."""
        for point in points:
            self.armory.arm(point)
        assert self.up.end() == 0, self.up.text()
        for point in points:
            assert self.armory.has_acted(point), point
        self.up = self._up()


def _arguments(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.fixture
def attack() -> Iterator[Attack]:
    with deployed(SETTINGS) as deployment:
        yield Attack(deployment)


def finish(attack: Attack) -> None:
    """Let the work end, and judge it."""
    runs = steady.end(attack.deployment)
    steady.judge(attack.deployment, runs)
    steady.end_all(attack.deployment, attack.up)


def test_killed_at_work(attack: Attack) -> None:
    # Taking turns lets each role get back to work before it is struck again.
    for points in zip_longest(*WORKING.values()):
        for point in filter(None, points):
            attack.strike(point)
    finish(attack)


def test_killed_while_starting_and_parsing(attack: Attack) -> None:
    broken = attack.deployment.dags / "broken.py"
    provocations: dict[str, Callable[[], object]] = {
        "parse.heartbeat": lambda: None,
        "parse.store": lambda: attack.deployment.write("other.py", _other(attack)),
        "parse.fail": lambda: attack.deployment.write("broken.py", f"1 / 0  # {_count(attack)}"),
        "parse.hide": broken.unlink,
    }
    for point in PARSING:
        if point.startswith("parse.hide"):
            attack.deployment.write("broken.py", "1 / 0")
            wait_until(lambda: _is_known(attack, broken.name), "the broken file to be noticed")
        attack.strike(point, provocations[point.rpartition(".")[0]])
    for points in zip_longest(*STARTING.values()):
        for role, point in zip(STARTING, points, strict=True):
            if point is not None:
                attack.strike(point, lambda role=role: attack.kill_one(role))  # type: ignore[misc]
    finish(attack)


def _count(attack: Attack) -> int:
    return len(attack.deployment.marks("never")) + sum(map(attack.armory.has_acted, PARSING))


def _other(attack: Attack) -> str:
    return f"""
        from flow import DAG
        from flow.operators.empty import EmptyOperator

        with DAG("other", schedule=None):
            EmptyOperator(task_id="task_{_count(attack)}")
        """


def _is_known(attack: Attack, name: str) -> bool:
    errors = attack.deployment.ask("dags", "errors")
    return any(name in str(error) for error in errors)


def test_killed_while_ending(attack: Attack) -> None:
    for points in ENDING:
        attack.end_at(points)
    finish(attack)


def test_database_killed(attack: Attack) -> None:
    """The embedded server comes back by itself, because a role needs it."""
    server = attack.deployment.embedded
    for _ in range(3):
        before = _postmaster(attack.deployment)
        psutil.Process(before).kill()
        wait_until(
            lambda before=before: server.running() and _postmaster(attack.deployment) != before,  # type: ignore[misc]
            "the next server",
            seconds=60,
        )
        wait_until(lambda: _runs_go_on(attack.deployment), "runs to go on")
    finish(attack)


def _postmaster(deployment: Deployment) -> int:
    lines = (deployment.embedded.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    return int(lines[0])


def _runs_go_on(deployment: Deployment) -> bool:
    before = len(list((deployment.folder / "m").iterdir()))
    wait_until(
        lambda: len(list((deployment.folder / "m").iterdir())) > before, "another task", seconds=60
    )
    return True
