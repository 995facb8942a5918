"""The children of a zygote, and what has become of them.

A job has ended when its child and every descendant of it are dead. While the child lives it is a
subreaper, so all its descendants are below it. When it dies they move up to the zygote, as
children that the zygote did not fork: strangers. Whatever is left of a job is thus below a
stranger, and strangers are killed on sight.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from flow.process import tree
from flow.process.cgroup import TryGroups
from flow.process.messages import Ended
from flow.process.stock import Stock


@dataclass(slots=True)
class Member:
    """The child that serves a job."""

    job_id: int
    pid: int
    killed: str | None = None
    """Why it is being ended, if it is: see `Ended.killed`."""
    deadline: float | None = None
    """When its tree is to be killed, in seconds of CLOCK_MONOTONIC."""


@dataclass(frozen=True, slots=True)
class _Leaver:
    """A job whose child is dead and some of whose descendants may not be."""

    ended: Ended
    sweep: int
    """The first sweep that may have met its strangers."""


class Family:
    """All children of this process: those that serve jobs, the stock, and strangers."""

    def __init__(self, stock: Stock, groups: TryGroups) -> None:
        self._stock = stock
        self._groups = groups
        self._members: dict[int, Member] = {}
        self._jobs: dict[int, Member] = {}
        self._leavers: list[_Leaver] = []
        self._strangers: dict[int, int] = {}
        self._sweep = 0

    def start(self, job_id: int, job: bytes, job_line: int, compiled: int | None = None) -> int:
        """Have a child serve a job. Returns its pid; raises OSError if there can be none.

        `compiled` is the memory file for the job's DAG file, if there is one.
        """
        member = Member(job_id, self._stock.use(job, job_line, compiled))
        self._members[member.pid] = self._jobs[job_id] = member
        return member.pid

    def stop(self, job_id: int, grace: float, now: float) -> None:
        """Ask a job to end and kill its tree after `grace` seconds; one that has ended is let be.

        Without grace it is not asked. A second request can only shorten the grace. `now` is in
        seconds of CLOCK_MONOTONIC.
        """
        member = self._jobs.get(job_id)
        if member is None:
            return
        if member.killed is None and grace > 0:
            os.kill(member.pid, signal.SIGTERM)
            os.kill(member.pid, signal.SIGCONT)  # a stopped process would not hear the other one
        member.killed = member.killed or "stop"
        deadline = now + grace
        member.deadline = deadline if member.deadline is None else min(member.deadline, deadline)

    def next_deadline(self) -> float | None:
        """When `kill_overdue` has something to do, in seconds of CLOCK_MONOTONIC."""
        deadlines = (member.deadline for member in self._members.values())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def kill_overdue(self, now: float) -> None:
        """Kill the trees whose grace is over."""
        for member in self._members.values():
            if member.deadline is not None and member.deadline <= now:
                member.deadline = None
                self._kill(member.pid)

    def kill_all(self, reason: str) -> None:
        """Kill the trees of all jobs at once."""
        for member in self._members.values():
            member.killed = member.killed or reason
            member.deadline = None
            self._kill(member.pid)

    def reap(self) -> list[Ended]:
        """Bury the dead, kill strangers. Returns the jobs of which nothing lives any more."""
        buried = False
        for pid, status, usage in _dead():
            buried = True
            self._groups.bury(pid)
            member = self._members.pop(pid, None)
            if member is not None:
                del self._jobs[member.job_id]
                # The child may have died after it was last looked for and before the last sweep.
                self._leavers.append(_Leaver(_account(member, status, usage), self._sweep))
            elif not self._stock.lost(pid):
                self._strangers.pop(pid, None)
        if buried:
            self._kill_strangers()
            self._groups.tidy()
        return self._gone()

    def extinct(self) -> bool:
        """Whether this process has no children at all."""
        return not tree.children(os.getpid())

    def _kill(self, pid: int) -> None:
        if not self._groups.kill(pid):
            tree.kill(pid)

    def _kill_strangers(self) -> None:
        self._sweep += 1
        known = self._members.keys() | self._strangers.keys() | self._stock.pids
        for pid in tree.children(os.getpid()):
            if pid not in known:
                self._strangers[pid] = self._sweep
                tree.kill(pid)

    def _gone(self) -> list[Ended]:
        """Take out the leavers without living strangers.

        A stranger met before a job's child died is not that job's: one that is stuck in the
        kernel holds up its own job only, and those that ended along with it.
        """
        latest = max(self._strangers.values(), default=-1)
        gone = [leaver.ended for leaver in self._leavers if leaver.sweep > latest]
        self._leavers = [leaver for leaver in self._leavers if leaver.sweep <= latest]
        return gone


def _dead() -> Iterator[tuple[int, int, resource.struct_rusage]]:
    """Reap every child that is dead: pid, wait status, use of resources."""
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status, usage


def _account(member: Member, status: int, usage: resource.struct_rusage) -> Ended:
    code = os.waitstatus_to_exitcode(status)
    return Ended(
        job_id=member.job_id,
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        peak_rss=usage.ru_maxrss * 1024,
        cpu_time=usage.ru_utime + usage.ru_stime,
        killed=member.killed,
    )
