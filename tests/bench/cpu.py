"""CPU time and memory of process trees, from /proc.

A process that has exited and was waited for lives on in its parent's account of its children, so a
tree's total never forgets anybody.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from flow.embedded import Server, pidfile
from flow.process import tree

_TICK: Final = 1.0 / os.sysconf("SC_CLK_TCK")


def of_trees(roots: Iterable[int], without: Iterable[int] = ()) -> float:
    """Seconds of CPU used so far by processes and all that descends from them.

    `without` are living processes that do not count.
    """
    left_out = set(without)
    pids = {pid for root in roots for pid in (root, *tree.descendants(root))}
    return sum(_seconds(pid) for pid in pids - left_out)


def _seconds(pid: int) -> float:
    """User and system time of a process and of the children it has waited for."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0  # it ended since; its parent has waited for it, or will have
    fields = text.rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) * _TICK


def postmaster(server: Server) -> int:
    """Pid of the server's first process, whose children are all others."""
    pid = pidfile.live_pid(server.data)
    assert pid is not None, "the server is not running"
    return pid


def proportional_size(roots: Iterable[int]) -> int:
    """Bytes of memory of process trees, what is shared with others divided among all sharers."""
    pids = {pid for root in roots for pid in (root, *tree.descendants(root))}
    return sum(_proportional(pid) for pid in pids)


def _proportional(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"/proc/{pid}/smaps_rollup says no Pss")
