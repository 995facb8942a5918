"""Children forked ahead of their jobs.

A fork costs 1 to 3 ms, and a job that finds a child waiting is spared them. Each child serves one
job, and others are forked when there is time for it: as soon as the last one waits, and then
several in a row. For after a fork the first write to a page copies it, in the zygote as well: what
a turn of its loop writes to (280 pages, 3 µs each) it pays for once in a row of forks.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from dataclasses import dataclass

from flow import faults
from flow.process import child, tree
from flow.process.cgroup import TryGroups
from flow.process.child import live, pass_order


@dataclass(frozen=True, slots=True)
class Spare:
    """A child that waits for its order at the other end of `order`."""

    pid: int
    order: socket.socket


class Stock:
    """The children that wait. `size` is how many should; `limit` and `entries` are theirs.

    Until the first job comes it is one: who has nothing to do needs no memory for it.
    """

    def __init__(self, size: int, limit: int, entries: child.Entries, groups: TryGroups) -> None:
        self._size = size
        self._groups = groups
        self._wanted = min(1, size)
        self._limit = limit
        self._entries = entries
        self._spares: deque[Spare] = deque()
        self._dying = False
        """One died as it waited. What killed it is not fed with others before the next job."""

    @property
    def pids(self) -> set[int]:
        return {spare.pid for spare in self._spares}

    def use(self, job: bytes, job_line: int, compiled: int | None = None) -> int:
        """Pass a job on to a child, a new one if none waits. Returns its pid.

        Raises OSError if no child can be forked.
        """
        self._dying = False
        self._wanted = self._size
        while self._spares:
            spare = self._spares.popleft()
            try:
                return _pass(spare, job, job_line, compiled)
            except ConnectionError:
                pass  # somebody killed it as it waited; it is reaped like any stranger
        # Many jobs come at once: those that follow find a row.
        self._spares.append(self._fork())
        self._complete()
        return _pass(self._spares.popleft(), job, job_line, compiled)

    def refill(self) -> None:
        """Fork what is missing if only one is left, or as much as the system allows for now."""
        if len(self._spares) <= 1:
            self._complete()

    def _complete(self) -> None:
        try:
            while len(self._spares) < self._wanted and not self._dying:
                faults.point("zygote.refill.before_fork")
                self._spares.append(self._fork())
        except OSError:
            pass  # no process or memory left: the jobs that come will say so

    def lost(self, pid: int) -> bool:
        """Take note that a child is dead. Whether it was one of these."""
        for spare in self._spares:
            if spare.pid == pid:
                spare.order.close()
                self._spares.remove(spare)
                self._dying = True
                return True
        return False

    def dissolve(self) -> None:
        """Kill all and keep none from now on."""
        self._size = self._wanted = 0
        for spare in self._spares:
            tree.kill(spare.pid)

    def _fork(self) -> Spare:
        ours, theirs = socket.socketpair()
        zygote = os.getpid()
        try:
            pid = os.fork()
            if pid == 0:
                live(theirs, zygote, self._limit, self._entries)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        self._groups.admit(pid)
        return Spare(pid, ours)


def _pass(spare: Spare, job: bytes, job_line: int, compiled: int | None) -> int:
    try:
        pass_order(spare.order, job, job_line, compiled)
    finally:
        spare.order.close()
    return spare.pid
