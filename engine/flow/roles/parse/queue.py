"""Files that wait to be parsed, in lanes, so that the bad ones cannot hold up the good ones."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice
from typing import Final, NamedTuple

SLOW: Final = 3.0
"""Seconds after which an import is slow."""


class Waiting(NamedTuple):
    """A file in the queue."""

    path: str
    own: bool = False
    """It has changed itself, so somebody waits for it: before those that read what has changed."""
    again: bool = False
    """It failed or was slow before, so it may well use up its time limit."""
    alone: bool = False
    """All processes died when it was parsed: nothing else is parsed beside it."""
    deaths: int = 0
    """How often in a row they did."""

    def suspected(self) -> Waiting:
        """To be parsed alone, for all processes have died beside it."""
        return self._replace(alone=True, deaths=self.deaths + 1)

    def renewed(self) -> Waiting:
        """To be parsed again, for it has changed during an import that ended by itself."""
        return self._replace(own=True, deaths=0)

    @property
    def lane(self) -> int:
        """Its place among the lanes; the lower one is the better one."""
        if self.alone:
            return _ALONE
        return _AGAIN if self.again else _OWN if self.own else _READS


_OWN, _READS, _AGAIN, _ALONE = range(4)


def _outdoes(before: Waiting, new: Waiting) -> bool:
    """Whether a file goes on waiting as it does."""
    return before.lane <= new.lane or (before.alone and not new.own)


class Queue:
    """Files to parse: `slots` at once, and as many again of those that are slow or failed before.

    A hundred new files that never end would keep `slots` processes busy for an hour. So an import
    that turns out slow leaves its place to others and goes on beside them; where too many are slow
    already it has to give way, and starts anew once one of them has ended.

    One that is parsed alone and turns out slow is not alone any more: it may just hang, and has
    ended nobody so far. When all processes die beside it a second time, it is alone to its end.
    """

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._lanes: tuple[dict[str, Waiting], ...] = ({}, {}, {}, {})
        self._running: dict[str, Waiting] = {}
        self._slow: set[str] = set()

    def __len__(self) -> int:
        return sum(map(len, self._lanes))

    @property
    def running(self) -> set[str]:
        """Files that were taken and are not done."""
        return set(self._running)

    def next(self, count: int) -> list[str]:
        """The files that would be taken next, if every process were free."""
        return list(islice(chain(*self._lanes[:_ALONE]), count))

    def add(self, files: Iterable[Waiting]) -> None:
        """Let files wait, none twice; one that waits already can only come to a better lane.

        One that waits to be parsed alone goes on doing so as long as it is as it was: else it could
        end all the others again and again, and none of them would ever be done.
        """
        for one in files:
            before = next((lane for lane in self._lanes if one.path in lane), None)
            if one.path in self._running or (before and _outdoes(before[one.path], one)):
                continue
            if before:
                del before[one.path]
            self._lanes[one.lane][one.path] = one

    def take(self) -> Waiting | None:
        """The next file to start; None when there is none or no process for it."""
        if any(one.alone for one in self._running.values()):
            return None
        lane = self._next_lane()
        if lane is None:
            return None
        one = lane.pop(next(iter(lane)))
        if one.lane == _AGAIN:
            self._slow.add(one.path)
        self._running[one.path] = one
        return one

    def _next_lane(self) -> dict[str, Waiting] | None:
        own, reads, again, alone = self._lanes
        if (own or reads) and len(self._running) - len(self._slow) < self._slots:
            return own or reads
        if again and len(self._slow) < self._slots:
            return again
        return alone if alone and not self._running else None

    def yields(self, path: str) -> bool:
        """Whether a file that has been running for `SLOW` has to make room for others."""
        one = self._running[path]
        if path in self._slow or (one.alone and one.deaths > 1):
            return False
        self._running[path] = one._replace(alone=False)
        if len(self._slow) < self._slots:
            self._slow.add(path)
            return False
        return any(self._lanes[:_AGAIN])

    def done(self, path: str) -> Waiting:
        """A file that was taken is not being parsed any more."""
        self._slow.discard(path)
        return self._running.pop(path)
