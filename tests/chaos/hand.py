"""The hand that strikes: finds a victim for a fault.

A part of the deployment bears one fault at a time, until it is whole again. So supervisor and
zygote of one worker are never struck at once, nor is a zygote stopped while its supervisor may fall
silent for another reason: nobody could end its tries then, when another host begins the next ones.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from typing import Final

from chaos import marks, processes
from chaos.blow import Blow
from chaos.deployment import Deployment
from chaos.member import Member
from chaos.plan import Fault

_DATABASE: Final = "database"
_SILENCE: Final = "silence"
"""What can keep a supervisor from its heartbeats while its zygote notices nothing."""
_DISK: Final = "disk"
_LINE: Final = ("cut", "stall", "slow", "rob")
_ROLE_OF: Final = {
    "supervisor": "work", "zygote": "work", "task": "work",
    "scheduler": "schedule",
    "parser": "parse", "importer": "parse",
}  # fmt: skip


class Hand:
    """Strikes a deployment, as chance will have it."""

    def __init__(self, deployment: Deployment, chance: random.Random) -> None:
        self._deployment = deployment
        self._chance = chance

    def strike(self, fault: Fault, busy: frozenset[str]) -> Blow | None:
        """Strike; None where nothing that is not `busy` can be struck just now."""
        if fault.kind == "fill":
            return self._fill(fault, busy)
        if fault.target.startswith("database"):
            return self._restart_database(fault, busy)
        if fault.target == "backend":
            return self._strike_backend(fault, busy)
        member = self._free(_ROLE_OF[fault.target], busy, lined=fault.kind in _LINE)
        if member is None:
            return None
        if fault.kind in _LINE:
            return _strike_line(fault, member)
        if fault.kind == "restart":
            return _restart(fault, member)
        if fault.kind == "skew":
            return self._skew(fault, member)
        return self._strike_process(fault, member, busy)

    def _free(self, role: str, busy: frozenset[str], *, lined: bool) -> Member | None:
        found = [
            member
            for member in self._deployment.of(role)
            if member.name not in busy and (member.line or not lined) and member.whole
        ]
        return self._chance.choice(found) if found else None

    def _strike_process(self, fault: Fault, member: Member, busy: frozenset[str]) -> Blow | None:
        parts = {member.name}
        if fault.kind != "kill" and fault.target == "zygote":
            parts.add(_SILENCE)
        victim = self._process(fault.target, member)
        if victim is None or parts & busy:
            return None
        return _strike(fault, victim, member.name, frozenset(parts), member)

    def _process(self, target: str, member: Member) -> int | None:
        if target in ("supervisor", "scheduler", "parser"):
            return member.pid
        zygote = member.zygote
        if target != "task" or zygote is None:
            return zygote
        begun = marks.running(marks.read(self._deployment.world / "marks"))
        tasks = [pid for pid in processes.children(zygote) if pid in begun]
        return self._chance.choice(tasks) if tasks else None

    def _strike_backend(self, fault: Fault, busy: frozenset[str]) -> Blow | None:
        parts = {_DATABASE} if fault.kind == "kill" else {_DATABASE, _SILENCE}
        server = self._deployment.server
        found = processes.backends(server) if server else []
        if not found or parts & busy:
            return None
        blow = _strike(fault, self._chance.choice(found), "PostgreSQL", frozenset(parts), None)
        # A server that is told to end while it recovers may never do so: PostgreSQL 18 does not.
        blow.is_whole = self._deployment.is_open
        return blow

    def _restart_database(self, fault: Fault, busy: frozenset[str]) -> Blow | None:
        server = self._deployment.server
        if server is None or _DATABASE in busy:
            return None
        how = signal.SIGINT if fault.target.endswith("fast") else signal.SIGQUIT
        processes.send(server, how)
        starting = self._deployment.start_server()

        def is_whole() -> bool:
            return starting.poll() is not None and self._deployment.is_open()

        parts = frozenset({_DATABASE})
        return Blow(fault, f"PostgreSQL (pid {server})", parts, is_whole=is_whole)

    def _fill(self, fault: Fault, busy: frozenset[str]) -> Blow | None:
        disk = self._deployment.disk
        if _DISK in busy:
            return None
        disk.fill()
        return Blow(fault, str(disk.folder), frozenset({_DISK}), disk.empty)

    def _skew(self, fault: Fault, member: Member) -> Blow:
        """Its successor's clock is wrong for a while; then comes one whose clock is right."""
        member.skew = self._chance.choice((-1, 1)) * self._chance.uniform(60, 90_000)
        victim = f"{member.name}, after pid {member.pid}, by {member.skew:.0f} s"
        is_wrong = _succeed(member)

        def put_right() -> None:
            member.skew = 0.0
            nonlocal is_right
            is_right = _succeed(member)

        is_right = is_wrong
        return Blow(
            fault,
            victim,
            frozenset({member.name}),
            put_right,
            has_begun=is_wrong,
            is_whole=lambda: is_right(),
        )


def _strike(
    fault: Fault, pid: int, where: str, parts: frozenset[str], member: Member | None
) -> Blow:
    """Kill a process, or let it stand still for a while."""
    born = processes.began(pid)
    below = [(one, processes.began(one)) for one in processes.descend(pid)]
    victim = f"{fault.target} of {where} (pid {pid})"

    def lives(one: int, since: str) -> bool:
        return processes.began(one) == since and processes.alive(one)

    def go_on() -> None:
        if lives(pid, born):
            processes.send(pid, signal.SIGCONT)

    def is_whole() -> bool:
        if fault.kind == "kill" and any(lives(*one) for one in [(pid, born), *below]):
            return False
        return member is None or member.whole

    if fault.kind == "kill":
        processes.send(pid, signal.SIGKILL)
        return Blow(fault, victim, parts, is_whole=is_whole)
    processes.send(pid, signal.SIGSTOP)
    return Blow(fault, victim, parts, go_on, is_whole=is_whole)


def _restart(fault: Fault, member: Member) -> Blow:
    victim = f"{member.name} (pid {member.pid})"
    return Blow(fault, victim, frozenset({member.name}), is_whole=_succeed(member))


def _succeed(member: Member) -> Callable[[], bool]:
    """Tell a role to end; whether its successor is there."""
    old = member.pid
    member.send(signal.SIGTERM)
    return lambda: member.pid not in (None, old) and member.whole


def _strike_line(fault: Fault, member: Member) -> Blow:
    line = member.line
    assert line is not None  # only members with a line are looked for
    before = line.robbed
    {"cut": line.cut, "stall": line.stall, "slow": line.slow, "rob": line.rob}[fault.kind]()
    return Blow(
        fault,
        f"the line of {member.name}",
        frozenset({member.name}),
        line.mend,
        is_enough=lambda: line.robbed > before,
    )
