"""Every process of a deployment is killed at every named point of its code, in the midst of work.

No task is lost, none is started twice under one try, no two tries of one overlap, every run ends
in success, nothing is left running, and the sweep that repairs what cannot happen finds nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path

import psutil
import pytest

from cases import steady
from cases.armed import Armory
from cases.breaks import Break
from cases.deployment import Deployment, Role, deployed
from cases.points import around, named, transactions
from waiting import wait_until

BREAKS = [
    # Wake-ups are taken in a transaction of their own: who dies between the two loses them.
    Break(
        "engine/flow/roles/schedule/decisions.py",
        "        woken = runs.woken(answers.opening)\n",
        "        woken = runs.woken(answers.opening)\n"
        '        conn.execute("commit")\n'
        '        conn.execute("begin")\n',
        test="test_killed_at_work",
    ),
]

SETTINGS = {
    "worker.heartbeat": 0.5,
    "worker.lost_after": 60,
    "worker.kill_grace": 2,
    "scheduler.sweep_interval": 1,
    "parse.interval": 1,
}
UP = ("--schedulers", "2", "--workers", "2", "--slots", "4")


STARTS = ("schedule.register", "work.register", "work.succeed")
"""Commits that a role comes by when it starts after another one's death."""
ENDS = ("work.drain", "schedule.retire", "work.retire")
"""Commits that roles come by when they are told to stop."""
ELSEWHERE = {
    "schedule.lose",  # test_T33: takes a worker that is silent
    "work.confirm",  # test_T15: says that a process is dead
    "work.release",  # tests/roles/work: takes a lost answer to a claim
    "work.deliver",  # test_kept_results: takes a result that a dead worker kept
}
"""Commits that other tests kill at."""


def of_role(role: str) -> list[str]:
    """The points of the other commits of a role, which it comes by sooner or later."""
    apart = {*STARTS, *ENDS, *ELSEWHERE}
    return around(*sorted(name for name in transactions() - apart if name.startswith(f"{role}.")))


WORKING = {
    "schedule": of_role("schedule"),
    "work": [
        *of_role("work"),
        "host.start.before_send", "host.finished.received", "host.ended.received",
    ],
    "zygote": [
        "zygote.start.received", "zygote.ended.before_send", "child.finished.after_send",
        *sorted(named() - {"zygote.lease.expired"}),  # test_T33
    ],
}  # fmt: skip
"""Points that work comes by. Of messages those between which somebody else acts: all their points
are passed in test_points."""

STARTING = {
    role: around(*(name for name in STARTS if name.startswith(f"{role}.")))
    for role in ("schedule", "work")
}

PARSING = of_role("parse")

ENDING = [
    ("work.drain.before_commit", "schedule.retire.before_commit"),
    ("work.drain.after_commit", "schedule.retire.after_commit"),
    ("work.retire.before_commit",),
    ("work.retire.after_commit",),
]
"""The points of `ENDS`; those of one row fit one end."""

POINTS = [
    *(point for points in WORKING.values() for point in points),
    *(point for points in STARTING.values() for point in points),
    *PARSING,
    *(point for row in ENDING for point in row),
]


def test_every_commit_is_here() -> None:
    """What is not named here belongs to a role that is killed at all the others."""
    assert {point for row in ENDING for point in row} == set(around(*ENDS))
    assert set(around(*transactions() - ELSEWHERE)) <= set(POINTS)
    assert {*STARTS, *ENDS, *ELSEWHERE} <= transactions()


class Attack:
    """A deployment at work, and points to strike at."""

    def __init__(self, deployment: Deployment, points: Sequence[str], action: str) -> None:
        self.deployment = deployment
        self.armory = Armory(deployment, points, action)
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
        found = wait_until(
            lambda: [one for one in self.members() if role in _arguments(one)], f"a {role}"
        )
        found[0].send_signal(signal.SIGKILL)

    def members(self) -> list[psutil.Process]:
        """The roles that run."""
        return psutil.Process(self.up.process.pid).children()

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


@contextmanager
def attacked(points: Sequence[str] = POINTS, action: str = "kill") -> Iterator[Attack]:
    """A deployment at work whose points, once armed, kill or do what else `action` says."""
    with deployed(SETTINGS) as deployment:
        yield Attack(deployment, points, action)


@pytest.fixture
def attack() -> Iterator[Attack]:
    with attacked() as prepared:
        yield prepared


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
    for role, points in STARTING.items():
        for point in points:
            attack.strike(point, partial(attack.kill_one, role))
    finish(attack)


@contextmanager
def parsing() -> Iterator[tuple[Deployment, Callable[[str], None]]]:
    """A deployment without a parser, and what makes the next one come by a point of its code.

    Afterwards whole versions of files are stored or none, and another parser goes on.
    """
    with deployed(SETTINGS) as deployment:
        assert deployment.flow("db", "migrate").code == 0
        _write_other(deployment, "before")
        deployment.parse()
        deployment.start("schedule")

        def provoke(point: str) -> None:
            match point.rpartition(".")[0]:
                case "parse.take" | "parse.store":
                    _write_other(deployment, point.replace(".", "_"))
                case "parse.fail":
                    deployment.write("unfit.py", UNFIT.format(point=point))
                case "parse.hide":
                    deployment.write("broken.py", "1 / 0")
                    deployment.parse()
                    (deployment.dags / "broken.py").unlink()
                case "parse.give_back":
                    deployment.write("restless.py", RESTLESS)
                case "parse.refuse":
                    _illegible(deployment, point).touch()
                case "parse.warn":
                    (deployment.dags / "unheeded" / ".flowignore").mkdir(
                        parents=True, exist_ok=True
                    )
                case "parse.succeed":
                    died = deployment.start("parse")
                    wait_until(lambda: "parsing" in died.text(), "a parser to be killed")
                    died.kill()

        yield deployment, provoke
        (deployment.dags / "unfit.py").unlink(missing_ok=True)
        for point in around("parse.refuse"):
            _illegible(deployment, point).unlink()
        deployment.parse()
        found = deployment.ask("tasks", "list", "other", deployment.run("other"))
        last = [p for p in PARSING if p.startswith(("parse.take", "parse.store"))][-1]
        assert [task["task_id"] for task in found] == [last.replace(".", "_")]
        assert deployment.ask("dags", "errors") == []


UNFIT = """
# {point}
from flow import DAG

DAG("unfit", max_active_runs=2**40)
"""
"""A sound graph that fits into no row."""

RESTLESS = """
from pathlib import Path

text = Path(__file__).read_text()
if "changed" + " while" not in text:
    Path(__file__).write_text(text + "# changed" + " while it was imported")
"""


def _illegible(deployment: Deployment, point: str) -> Path:
    """A DAG file whose name is not UTF-8."""
    return Path(os.fsdecode(os.fsencode(deployment.dags / point) + b"\xff.py"))


def _tell_to_end(parser: Role) -> None:
    wait_until(lambda: "parsing" in parser.text(), "the parser's loop")
    parser.send(signal.SIGTERM)


def test_parsers_killed() -> None:
    with parsing() as (deployment, provoke):
        for point in PARSING:
            provoke(point)
            parser = deployment.start("parse", FLOW_FAULTS=f"{point}=kill")
            if point.startswith("parse.retire"):
                _tell_to_end(parser)
            assert parser.wait() == -signal.SIGKILL, parser.text()


def _write_other(deployment: Deployment, task_id: str) -> None:
    deployment.write(
        "other.py",
        f"""
        from flow import DAG
        from flow.operators.empty import EmptyOperator

        with DAG("other", schedule=None):
            EmptyOperator(task_id="{task_id}")
        """,
    )


def test_killed_while_ending(attack: Attack) -> None:
    for points in ENDING:
        attack.end_at(points)
    finish(attack)


def test_stopped_within_a_transaction() -> None:
    """The database ends the session of a role that stands still; it goes on in another one."""
    points = ["schedule.decide.before_commit", "work.report.before_commit"]
    with attacked(points, action="stop") as attack:
        for point in points:
            attack.strike(point)
        stopped = wait_until(lambda: _standing(attack, len(points)), "roles that stand still")
        wait_until(lambda: _sessions_ended(attack.deployment) == len(points), "the end of sessions")
        for one in stopped:
            one.send_signal(signal.SIGCONT)
        finish(attack)
        assert attack.up.text().count("idle-in-transaction timeout") == len(points)
        assert "starting it again" not in attack.up.text(), "a role died of having been stopped"


def _standing(attack: Attack, number: int) -> list[psutil.Process]:
    """The members that are stopped, when they are so many."""
    stopped = [one for one in attack.members() if _is_stopped(one)]
    return stopped if len(stopped) == number else []


def _sessions_ended(deployment: Deployment) -> int:
    log = deployment.embedded.log_path.read_text(encoding="utf-8")
    return log.count("idle-in-transaction timeout")


def test_database_killed_at_work() -> None:
    """Whoever stands at a point, between any two of its steps, survives the database's death."""
    points = [point for row in zip_longest(*WORKING.values()) for point in row if point]
    with attacked(points, action="stop") as attack:
        for point in points:
            attack.strike(point)
            # That somebody reaches the next point shows that work goes on.
            _kill_database(attack.deployment, attack.up)
        finish(attack)
        text = attack.up.text()
        assert "starting it again" not in text, "a role died with the database"
        assert "the zygote died" not in text


def test_database_killed_under_parsers() -> None:
    with parsing() as (deployment, provoke):
        for point in PARSING:
            provoke(point)
            parser = deployment.start("parse", FLOW_FAULTS=f"{point}=stop@1")
            if point.startswith("parse.retire"):
                _tell_to_end(parser)
            _kill_database(deployment, parser)
            if not point.startswith("parse.retire"):
                _tell_to_end(parser)
            assert parser.wait() == 0, parser.text()


def _kill_database(deployment: Deployment, role: Role) -> None:
    """SIGKILL the postmaster while a process of a role is stopped, which then goes on."""
    stopped = wait_until(lambda: _stopped(role), "a process at its point")
    before = _postmaster(deployment)
    psutil.Process(before).kill()
    for process in stopped:
        process.send_signal(signal.SIGCONT)
    wait_until(
        lambda: deployment.embedded.running() and _postmaster(deployment) != before,
        "the next server",
        seconds=60,
    )


def _stopped(role: Role) -> list[psutil.Process]:
    top = psutil.Process(role.process.pid)
    return [one for one in (top, *top.children(recursive=True)) if _is_stopped(one)]


def _is_stopped(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_STOPPED)
    except psutil.NoSuchProcess:
        return False


def _postmaster(deployment: Deployment) -> int:
    lines = (deployment.embedded.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    return int(lines[0])
