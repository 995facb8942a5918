"""How many tries a worker runs at once: a fixed number, or as many as its host can spare.

One with a range begins with the least, and looks at the host with its heartbeats:

- It has half as many more, at least one, when all are used, more may be queued, and the host has at
  least `SPARE_CPU` of its CPU time idle, and `SPARE_MEMORY` of its memory beyond what has to be
  free.
- It has a quarter fewer than are used, at least one, when twice in a row the host had less than
  `SHORT_CPU` of its CPU time idle, or less memory than has to be free. No try is ended for that:
  until enough of them have ended by themselves, nothing is claimed.
- It begins with the least again once it uses fewer than that; with one, of a range from 0, so that
  it goes on looking for something to do.

Between both thresholds nothing changes, so that the number does not swing. CPU and memory are those
of the whole host, whoever uses them, also when the worker stands in a container or control group
with less.
"""

from __future__ import annotations

import time
from typing import Final, NamedTuple

import psutil

SPARE_CPU: Final = 0.2
SHORT_CPU: Final = 0.05
SPARE_MEMORY: Final = 0.1
SHORT_LOOKS: Final = 2
PAUSE: Final = 2.5
"""Seconds between two looks at least: the share of idle CPU time is that since the last one."""


class Host(NamedTuple):
    """What a host has left, each as a share from 0 to 1."""

    idle_cpu: float
    free_memory: float


def look() -> Host:
    """The host as it is now; its CPU since the last look."""
    memory = psutil.virtual_memory()
    return Host(1.0 - psutil.cpu_percent(None) / 100.0, memory.available / memory.total)


class Slots:
    """The slots of one worker, `now` of them. `min_free_memory` is a share of the host's."""

    def __init__(self, least: int, most: int, min_free_memory: float) -> None:
        self.least = least
        self.most = most
        self.now = least
        self._min_free_memory = min_free_memory
        self._short = 0
        """For how many looks in a row the host has been short of something."""
        self._look_at = time.monotonic() + PAUSE
        if self.elastic:
            look()  # from now on CPU time is counted

    def __str__(self) -> str:
        return f"{self.now} slots" + (f" ({self.least} to {self.most})" if self.elastic else "")

    @property
    def elastic(self) -> bool:
        """Whether there may be more or fewer."""
        return self.least < self.most

    def adapt(self, used: int, *, wanting: bool) -> None:
        """Look at the host, when it is time, and have as many slots as it can spare.

        `wanting`: more may be queued than was taken.
        """
        if self.elastic and time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + PAUSE
            self.settle(used, look(), wanting=wanting)

    def settle(self, used: int, host: Host, *, wanting: bool) -> None:
        """Have as many slots as fit what was seen of the host."""
        least_memory = self._min_free_memory
        is_short = host.idle_cpu < SHORT_CPU or host.free_memory < least_memory
        self._short = self._short + 1 if is_short else 0
        first = max(1, self.least)
        if used < first < self.now:
            self.now = first
        elif self._short >= SHORT_LOOKS:
            self._short = 0
            # Those that it was to have fewer of may still run: then it stays with what it has.
            self.now = max(self.least, min(self.now, used - max(1, used // 4)))
        elif (
            wanting
            and used >= self.now
            and host.idle_cpu >= SPARE_CPU
            and host.free_memory >= least_memory + SPARE_MEMORY
        ):
            self.now = min(self.most, self.now + max(1, self.now // 2))
