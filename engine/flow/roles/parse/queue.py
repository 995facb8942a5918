"""Files that wait to be parsed, in lanes, so that the bad ones cannot hold up the good ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import chain, islice
from typing import Final, NamedTuple

SLOW: Final = 3.0
"""Seconds after which an import is slow."""


class Waiting(NamedTuple):
    """A file in the queue."""

    path: str
    again: bool = False
    """It failed or was slow before, so it may well use up its time limit."""
    alone: bool = False
    """All processes died when it was parsed: nothing else is parsed beside it."""


class Queue:
    """Files to parse: `slots` at once, and as many again of those that are slow or failed before.

    A hundred new files that never end would keep `slots` processes busy for an hour. So an import
    that turns out slow leaves its place to others and goes on beside them; where too many are slow
    already it has to give way, and starts anew once one of them has ended.
    """

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._changed: deque[Waiting] = deque()
        self._again: deque[Waiting] = deque()
        self._alone: deque[Waiting] = deque()
        self._running: dict[str, Waiting] = {}
        self._slow: set[str] = set()

    def __len__(self) -> int:
        return len(self._changed) + len(self._again) + len(self._alone)

    @property
    def running(self) -> set[str]:
        """Files that were taken and are not done."""
        return set(self._running)

    def next(self, count: int) -> list[str]:
        """The files that would be taken next, if every process were free."""
        return [one.path for one in islice(chain(self._changed, self._again), count)]

    def add(self, files: Iterable[Waiting]) -> None:
        """Let files wait, none twice; one that has changed leaves the lane of the bad ones."""
        files = [one for one in files if one.path not in self._running]
        changed = {one.path for one in files if not one.again and not one.alone}
        for lane in (self._again, self._alone):
            kept = [one for one in lane if one.path not in changed]
            lane.clear()
            lane.extend(kept)
        present = {one.path for lane in (self._changed, self._again, self._alone) for one in lane}
        for one in files:
            if one.path not in present:
                present.add(one.path)
                lane = self._alone if one.alone else self._again if one.again else self._changed
                lane.append(one)

    def take(self) -> Waiting | None:
        """The next file to start; None when there is none or no process for it."""
        if any(one.alone for one in self._running.values()):
            return None
        if self._changed and len(self._running) - len(self._slow) < self._slots:
            one = self._changed.popleft()
        elif self._again and len(self._slow) < self._slots:
            one = self._again.popleft()
            self._slow.add(one.path)
        elif self._alone and not self._running:
            one = self._alone.popleft()
        else:
            return None
        self._running[one.path] = one
        return one

    def yields(self, path: str) -> bool:
        """Whether a file that has been running for `SLOW` has to make room for others."""
        if path in self._slow:
            return False
        if len(self._slow) < self._slots:
            self._slow.add(path)
            return False
        return bool(self._changed)

    def done(self, path: str) -> Waiting:
        """A file that was taken is not being parsed any more."""
        self._slow.discard(path)
        return self._running.pop(path)
