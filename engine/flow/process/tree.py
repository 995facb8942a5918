"""Process trees: who descends from whom, and how to kill all of them.

Descent is read from /proc, and read again until a look finds nobody new. Zombies count as dead;
whoever is their parent reaps them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final

_LOOK_AGAIN: Final = 0.01
"""Seconds between two looks at processes that have been killed and are not yet gone."""


def children(pid: int) -> list[int]:
    """The children of a process, zombies among them; none if it does not exist."""
    found: list[int] = []
    for thread in _numbers(f"/proc/{pid}/task"):
        text = _read(f"/proc/{pid}/task/{thread}/children")
        if text is None and _exists(pid):
            # The thread is gone, or the kernel was built without CONFIG_PROC_CHILDREN.
            return [child for child in _everybody() if parent(child) == pid]
        found += map(int, (text or b"").split())
    return found


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, parents before their children."""
    found = children(pid)
    for descendant in found:  # grows while it is walked
        found += children(descendant)
    return found


def parent(pid: int) -> int | None:
    """The parent of a process; None if the process does not exist."""
    fields = _stat(pid)
    return int(fields[1]) if fields else None


def alive(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    fields = _stat(pid)
    return fields is not None and fields[0] not in (b"Z", b"X")


def stopped(pid: int) -> bool:
    """Whether a process has been stopped by a signal; one that is traced goes on by itself."""
    fields = _stat(pid)
    return fields is not None and fields[0] == b"T"


def kill(root: int) -> None:
    """SIGKILL a process and all its descendants, whatever their sessions and process groups.

    Does not wait for them to be gone. `root` must be a child of the caller, which keeps its
    number from being used again.
    """
    _kill(root, lambda: True)


def kill_marked(marker: str, patience: float = 10.0) -> list[int]:
    """SIGKILL every process whose environment holds the entry `marker` ("NAME=value"), as trees.

    Spares the caller and its ancestors. Returns, after `patience` seconds at most, those that
    are still there: another user's, or stuck in the kernel.
    """
    spared = set(_ancestry(os.getpid()))
    entry = marker.encode()

    def marked(pid: int) -> bool:
        return entry in (_read(f"/proc/{pid}/environ") or b"").split(b"\0")

    deadline = time.monotonic() + patience
    while survivors := [p for p in _everybody() if p not in spared and marked(p) and alive(p)]:
        if time.monotonic() >= deadline:
            return survivors
        for pid in survivors:
            _kill(pid, partial(marked, pid))
        time.sleep(_LOOK_AGAIN)
    return []


def _kill(root: int, meant: Callable[[], bool]) -> None:
    """SIGKILL a tree if its root, once it cannot be mistaken any more, is the one that was meant.

    All of it is stopped first. Else the death of a parent would let orphans slip away to init
    before they are struck, and those not yet struck could fork.
    """
    family: dict[int, _Target] = {}
    seen: set[int] = set()
    while fresh := [pid for pid in (root, *descendants(root)) if pid not in seen]:
        seen.update(fresh)
        for pid in fresh:
            target = _Target(pid)
            if meant() if pid == root else parent(pid) in family:
                family[pid] = target
                target.send(signal.SIGSTOP)
            else:
                target.close()
    for target in family.values():
        target.kill()
        target.close()


class _Target:
    """A process to be struck, held by its pidfd, so that no other one can get its number.

    A process that is gone, or another user's, is left to who waits for its end. On old kernels
    and in sandboxes without pidfds, and when too many files are open, the number has to do.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        try:
            self._pinned: int | None = os.pidfd_open(pid)
        except OSError:
            self._pinned = None

    def send(self, number: signal.Signals) -> None:
        try:
            if self._pinned is None:
                os.kill(self._pid, number)
            else:
                signal.pidfd_send_signal(self._pinned, number)
        except (ProcessLookupError, PermissionError):
            pass

    def kill(self) -> None:
        """SIGKILL, for the process group that it leads as well."""
        if _group(self._pid) == self._pid:
            try:
                os.killpg(self._pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        self.send(signal.SIGKILL)

    def close(self) -> None:
        if self._pinned is not None:
            os.close(self._pinned)


def _group(pid: int) -> int | None:
    fields = _stat(pid)
    return int(fields[2]) if fields else None


def _ancestry(pid: int) -> Iterable[int]:
    while pid:
        yield pid
        pid = parent(pid) or 0


def _everybody() -> list[int]:
    return _numbers("/proc")


def _numbers(folder: str) -> list[int]:
    """The numbers among the names in a folder of /proc."""
    try:
        with os.scandir(folder) as entries:
            return [int(entry.name) for entry in entries if entry.name.isdigit()]
    except OSError:
        return []


def _exists(pid: int) -> bool:
    return _stat(pid) is not None


def _stat(pid: int) -> list[bytes] | None:
    """The fields of /proc/PID/stat from the state on (proc_pid_stat(5), field 3)."""
    text = _read(f"/proc/{pid}/stat")
    # The command name before them is in parentheses and may hold anything.
    return text.rpartition(b") ")[2].split() if text else None


def _read(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None
