"""A story: work goes on, faults strike as the plan says, and in the end all must be right."""

from __future__ import annotations

import random
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from chaos import marks, plan, processes, workload
from chaos.blow import Blow
from chaos.deployment import LOST_AFTER, Deployment, Failed
from chaos.hand import Hand
from chaos.judge import judge, read_run
from waiting import limit, wait_until

_LOOK: Final = 0.05
"""Seconds between two looks at what goes on."""
_AT_ONCE: Final = 6
"""Faults that may be in progress at the same time."""
_RECOVERY: Final = 60.0
"""Seconds in which a part must be whole again after a fault."""
_REWRITE: Final = 6.0
"""Seconds between two changes of the DAG files."""
_END: Final = 90.0
"""Seconds in which all runs must end once nothing strikes any more."""
_UNAVAILABLE: Final = (5,)
"""Exit codes with which a verb may end while the database is struck."""
_COSTLESS: Final = frozenset({"lost", "lease_expired", "drained"})
"""States of tries that end without having used up a retry."""
REPAIRED: Final = re.compile(r".*was forgotten.*")
_BUG: Final = re.compile(r"^Traceback.*|.*Flow has a bug.*", re.MULTILINE)
_RACE: Final = re.compile(r".*(?:deadlock detected|duplicate key value).*")
"""In PostgreSQL's log: what the order of locks and statements is to prevent."""


@dataclass
class Story:
    """What a story is made of, and what it has come to. `pace` is in seconds between faults."""

    seed: int
    kills: int
    pace: float
    echo: Callable[[str], None] = lambda line: None
    log: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    _zero: float = field(default_factory=time.monotonic)

    def say(self, text: str) -> None:
        """Note what happens, with the seconds since the beginning and CLOCK_MONOTONIC."""
        now = time.monotonic()
        self.log.append(f"{now - self._zero:8.2f} {now:12.3f}  {text}")
        self.echo(self.log[-1])

    def tell(self, deployment: Deployment) -> None:
        """From the beginning of the work to the verdict."""
        chance = random.Random(self.seed)
        faults = plan.draw(chance, self.kills, LOST_AFTER)
        if deployment.disk.reason is not None:
            self.say(f"not filled: {deployment.disk.reason}")
            faults = [fault for fault in faults if fault.kind != "fill"]
        deployment.begin()
        self.say(f"work goes on; {len(faults)} faults")
        with ThreadPoolExecutor(1) as threads:
            _Attack(self, deployment, chance, faults, threads).go()
        self.say("nothing strikes any more")
        self.finish(deployment)
        self.judge(deployment)

    def finish(self, deployment: Deployment) -> None:
        """Let all work end, and look for repairs once more."""
        deployment.write_dags(ended=True)
        try:
            wait_until(lambda: _is_over(deployment), "the end of all runs", seconds=_END, pause=0.5)
        except AssertionError as error:
            self.wrong += [str(error), *_unfinished(deployment)]
        self.say("all runs are over")
        _force_sweep(deployment)

    def judge(self, deployment: Deployment) -> None:
        """End all roles, and note what is wrong."""
        for member in deployment.members:
            member.kept = False
            member.send(signal.SIGTERM)
        self.wrong += _orphans(deployment)
        runs = [read_run(run) for run in deployment.ask("runs", "list", "--all")]
        found = marks.read(deployment.world / "marks")
        effects = marks.effects(deployment.world / "effects")
        self.wrong += judge(deployment.works, runs, found, effects, _losses(deployment, found))
        self.wrong += _pools(deployment)
        breaches = deployment.ask("db", "check", "--all", codes=(0, 1)) or []
        self.wrong += [f"invariant {one['invariant']}: {one}" for one in breaches]
        self.wrong += _logged(deployment)
        repairs = [
            line for one in deployment.of("schedule") for line in REPAIRED.findall(one.text())
        ]
        self.wrong += repairs
        self.counts |= {"runs": len(runs), "tries": len({(m.place, m.number) for m in found})}
        self.counts["repairs"] = len(repairs)
        self.say("judged")

    def summary(self) -> str:
        """The counts in one line."""
        names = (*plan.PLURALS.values(), "clears", "runs", "tries", "repairs")
        return ", ".join(f"{self.counts[name]} {name}" for name in names)

    def report(self) -> str:
        """All that is needed to understand a failure."""
        return "\n".join(
            [
                f"seed {self.seed}, {self.kills} kills",
                "what happened (seconds since the beginning, CLOCK_MONOTONIC):",
                *self.log,
                "what is wrong:",
                *self.wrong,
                self.summary(),
            ]
        )


class _Attack:
    """The part of a story in which faults strike."""

    def __init__(
        self,
        story: Story,
        deployment: Deployment,
        chance: random.Random,
        faults: list[plan.Fault],
        threads: ThreadPoolExecutor,
    ) -> None:
        self._story = story
        self._deployment = deployment
        self._chance = chance
        self._faults = faults
        self._threads = threads
        self._hand = Hand(deployment, chance)
        self._blows: list[Blow] = []
        self._clear: Future[None] | None = None
        self._next_fault = self._next_rewrite = 0.0

    def go(self) -> None:
        """Strike until nothing is left of the plan, and everything is whole."""
        while self._faults or self._blows:
            self._deployment.keep()
            self._blows = [blow for blow in self._blows if not self._is_over(blow)]
            self._strike()
            self._disturb()
            time.sleep(_LOOK)
        wait_until(self._is_whole, "every role to be whole", seconds=_RECOVERY, pause=0.1)

    def _is_whole(self) -> bool:
        self._deployment.keep()
        return all(member.whole for member in self._deployment.members)

    def _strike(self) -> None:
        now = time.monotonic()
        if now < self._next_fault or len(self._blows) >= _AT_ONCE:
            return
        busy = frozenset().union(*(blow.parts for blow in self._blows))
        for fault in self._faults:
            blow = self._hand.strike(fault, busy)
            if blow is not None:
                self._story.say(f"{fault}: {blow.victim}")
                self._story.counts[plan.PLURALS[fault.kind]] += 1
                self._faults.remove(fault)
                self._blows.append(blow)
                self._next_fault = now + self._chance.expovariate(1 / self._story.pace)
                return

    def _is_over(self, blow: Blow) -> bool:
        over = blow.go_on()
        if over and blow.fault.seconds:
            self._story.say(f"    over: {blow.fault}: {blow.victim}")
        if not over and time.monotonic() > blow.struck + blow.fault.seconds + limit(_RECOVERY):
            raise Failed(f"not whole again after {blow.fault}: {blow.victim}")
        return over

    def _disturb(self) -> None:
        """Change the files now and then, and clear something, one after the other."""
        now = time.monotonic()
        if now >= self._next_rewrite:
            self._deployment.write_dags()
            self._next_rewrite = now + _REWRITE
        if self._clear is None or self._clear.done():
            if self._clear is not None:
                self._clear.result()
            self._clear = self._threads.submit(self._clear_something, self._chance.random())

    def _clear_something(self, draw: float) -> None:
        """Clear a task that has begun, and all that follows."""
        places = {
            mark.place
            for mark in marks.read(self._deployment.world / "marks")
            if mark.place.dag_id != workload.DOOMED.dag_id
        }
        place = sorted(places, key=lambda one: one.interval)[int(draw * len(places))]
        words = ("--downstream", "--yes", "-t", place.task_id)
        done = self._deployment.ask(
            "clear", place.dag_id, place.run_id, *words, codes=(0, *_UNAVAILABLE)
        )
        self._story.say(f"clear {place} and what follows: {'done' if done else 'no database'}")
        self._story.counts["clears"] += bool(done)
        time.sleep(1.0 + 3.0 * draw)


def _is_over(deployment: Deployment) -> bool:
    """Whether no DAG makes further runs, and all have ended."""
    deployment.keep()
    dags = deployment.ask("dags", "list", "--all")
    if any(dag["next_run_at"] for dag in dags):
        return False
    return not any(
        deployment.ask("runs", "list", "--state", state, "--limit", "1")
        for state in ("queued", "running")
    )


def _unfinished(deployment: Deployment) -> Iterator[str]:
    """What the product says of runs that do not end."""
    for state in ("queued", "running"):
        for run in deployment.ask("runs", "list", "--state", state, "--limit", "5"):
            yield f"not over: {run}"
            yield f"    {deployment.ask('why', run['dag_id'], run['run_id'], codes=range(256))}"
            yield f"    {deployment.ask('tasks', 'list', run['dag_id'], run['run_id'])}"
    yield f"    {deployment.ask('status', codes=(0, 1))}"


def _force_sweep(deployment: Deployment) -> None:
    """Have a new scheduler sweep: it does so before it does anything else."""
    member = deployment.of("schedule")[0]
    old = member.pid
    member.send(signal.SIGTERM)

    def has_beaten() -> bool:
        # Its first heartbeat and its first sweep are one step, which a signal does not part.
        deployment.keep()
        roles = deployment.ask("status", codes=(0, 1))["roles"]
        return member.pid != old and member.pid in {role["pid"] for role in roles}

    wait_until(has_beaten, "a new scheduler", seconds=60, pause=0.3)


def _orphans(deployment: Deployment) -> list[str]:
    """What is left when every role was told to end."""

    def left() -> list[int]:
        for member in deployment.members:
            member.keep()
        return processes.marked(deployment.name)

    try:
        wait_until(lambda: not left(), "the end of every process", seconds=40, pause=0.1)
    except AssertionError:
        return [f"left behind: {processes.describe(pid)}" for pid in left()]
    return []


def _losses(deployment: Deployment, found: list[marks.Mark]) -> dict[marks.Place, int]:
    """How many tries cost no retry, of tasks that failed more often than their retries allow.

    A task may have raised, and marked it, and its worker may have died before it could tell.
    """
    raised = Counter(mark.place for mark in found if mark.event == "failed")
    losses = {}
    for place, times in raised.items():
        if place.dag_id == workload.DOOMED.dag_id and times > workload.DOOMED.retries + 1:
            tries = deployment.ask("tasks", "tries", place.dag_id, place.run_id, place.task_id)
            losses[place] = sum(one["state"] in _COSTLESS for one in tries)
    return losses


def _pools(deployment: Deployment) -> list[str]:
    pools = deployment.ask("pools", "list")
    used = [pool for pool in pools if pool["running"] or pool["queued"] or pool["scheduled"]]
    return [f"slots are used: {pool}" for pool in used]


def _logged(deployment: Deployment) -> list[str]:
    """Errors of Flow's own in the logs of roles and database, and ends that nobody asked for."""
    found = [death for member in deployment.members for death in member.deaths]
    for member in deployment.members:
        text = member.text()
        for match in _BUG.finditer(text):
            after = text[match.start() : match.start() + 3000]
            found.append(f"{member.name} logged: {after}")
            break
    return found + [f"PostgreSQL logged: {it}" for it in _RACE.findall(deployment.server_log())]
