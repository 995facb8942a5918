"""Files that wait to be parsed, in two lanes, so that the bad ones cannot hold up the good ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple


class Waiting(NamedTuple):
    """A file in the queue."""

    path: str
    again: bool = False
    """It failed before, so it may well use up its time limit."""
    alone: bool = False
    """All processes died when it was parsed: nothing else is parsed beside it."""


class Queue:
    """Files to parse. Of `slots` processes one stays free of files that failed before."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._changed: deque[Waiting] = deque()
        self._again: deque[Waiting] = deque()
        self._alone: deque[Waiting] = deque()
        self._running: dict[str, Waiting] = {}

    def __len__(self) -> int:
        return len(self._changed) + len(self._again) + len(self._alone)

    @property
    def running(self) -> set[str]:
        """Files that were taken and are not done."""
        return set(self._running)

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
        if len(self._running) >= self._slots or any(one.alone for one in self._running.values()):
            return None
        lane = self._next_lane()
        if lane is None:
            return None
        one = lane.popleft()
        self._running[one.path] = one
        return one

    def done(self, path: str) -> Waiting:
        """A file that was taken is not being parsed any more."""
        return self._running.pop(path)

    def _next_lane(self) -> deque[Waiting] | None:
        if self._changed:
            return self._changed
        repeats = sum(one.again for one in self._running.values())
        if self._again and repeats < max(1, self._slots - 1):
            return self._again
        if self._alone and not self._running:
            return self._alone
        return None
