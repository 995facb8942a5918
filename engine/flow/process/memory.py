"""Whether a process that was killed had run out of memory: what the kernel says of it.

The kernel kills for want of memory by SIGKILL and tells nobody why. It counts such kills, in each
control group with a memory controller (`memory.events`) and on the host (/proc/vmstat); how much
memory there was to have is the least `memory.max` of the group and those above it, else all of the
host's. Who was meant by a count cannot be known, so only the count is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from flow.process.cgroup import common_folder

_NEAR: Final = 0.9
"""Part of the memory there is; from here on what a process used is near it."""


class Shortage(NamedTuple):
    """Signs that a killed process had run out of memory. Sizes in bytes."""

    kills: int
    """How many kills for want of memory the kernel has counted since the last death."""
    where: str
    """For whom it counted them, for people."""
    used: int
    limit: int


class Memory:
    """What this process and those below it may use, from when this object is made on."""

    def __init__(self, processes: Path = Path("/proc")) -> None:
        self._processes = processes
        self._groups = list(_groups(processes))
        self._where = "in its control group" if self._groups else "on this host"
        self._counted = self._count()

    def shortage(self, used: int) -> Shortage | None:
        """What speaks for it, of a process that has just died and had used so much; None: nothing.

        A kill is told of one death only.
        """
        counted = self._count()
        kills, self._counted = counted - self._counted, counted
        limit = self._limit()
        if kills > 0 or (limit and used >= limit * _NEAR):
            return Shortage(max(0, kills), self._where, used, limit)
        return None

    def _count(self) -> int:
        source = self._groups[0] / "memory.events" if self._groups else self._processes / "vmstat"
        return _number(source, "oom_kill")

    def _limit(self) -> int:
        """The most that there is to have; 0 where it cannot be known."""
        found = [_number(self._processes / "meminfo", "MemTotal:") * 1024]
        for group in self._groups:
            text = _read(group / "memory.max").strip()
            if text.isdecimal():
                found.append(int(text))
        return min((limit for limit in found if limit), default=0)


def _groups(processes: Path) -> Iterator[Path]:
    """The control groups that this process and its tries are in and that count memory.

    The least one is first; what happens in it counts in those above, too.
    """
    folder = common_folder(processes / "self")
    while folder is not None and (folder / "cgroup.procs").exists():
        if (folder / "memory.events").exists():
            yield folder
        folder = folder.parent


def _number(path: Path, name: str) -> int:
    """The number beside a name in a file of the kernel's; 0 where there is none."""
    for line in _read(path).splitlines():
        words = line.split()
        if words[:1] == [name]:
            return int(words[1])
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
