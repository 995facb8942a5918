"""Processes as /proc shows them: who is below whom, what state they are in, whose they are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MARKER: Final = "CHAOS_DEPLOYMENT"
"""Environment variable that every process of a deployment inherits."""
_ZYGOTE: Final = b"flow.process.zygote_main"


def everybody() -> list[int]:
    """The pids of all processes."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    return state(pid) not in ("", "Z", "X")


def state(pid: int) -> str:
    """The letter of proc_pid_stat(5); empty where there is no such process."""
    return _fields(pid)[0]


def began(pid: int) -> str:
    """When the process began, in ticks since boot: with the pid it names one process for ever."""
    fields = _fields(pid)
    return fields[19] if len(fields) > 19 else ""


def children(pid: int) -> list[int]:
    """The living children of a process, the eldest first."""
    found = [one for one in everybody() if _parent(one) == pid and alive(one)]
    return sorted(found, key=lambda one: int(began(one) or 0))


def zygote_of(role: int) -> int | None:
    """The living zygote of a worker or parser; None while there is none."""
    for pid in children(role):
        arguments = _read(pid, "cmdline").split(b"\0")
        if _ZYGOTE in arguments:
            return pid
    return None


def marked(name: str) -> list[int]:
    """The living processes that carry a deployment's name in their environment."""
    entry = f"{MARKER}={name}".encode()
    return [
        pid for pid in everybody() if alive(pid) and entry in _read(pid, "environ").split(b"\0")
    ]


def describe(pid: int) -> str:
    """Pid, state, parent and command line, for people."""
    command = _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    return f"{pid} ({state(pid)}, below {_parent(pid)}) {command}"


def postmaster(home: Path) -> int | None:
    """The PostgreSQL server whose data lies below `home`; None when there is none."""
    folder = os.fsencode(home)
    for pid in everybody():
        program, *arguments = _read(pid, "cmdline").split(b"\0")
        if Path(os.fsdecode(program)).name != "postgres" or b"-D" not in arguments:
            continue
        data = arguments[arguments.index(b"-D") + 1]
        if data.startswith(folder + b"/"):
            return pid
    return None


def backends(server: int) -> list[int]:
    """The sessions that a server has with clients of the database `flow`."""
    return [pid for pid in children(server) if b" flow flow " in _read(pid, "cmdline")]


def send(pid: int, number: signal.Signals) -> bool:
    """Send a signal; whether the process was there to get it."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def _parent(pid: int) -> int | None:
    fields = _fields(pid)
    return int(fields[1]) if len(fields) > 1 else None


def _fields(pid: int) -> list[str]:
    """What follows the name in proc_pid_stat(5), which may itself hold spaces and parentheses."""
    text = _read(pid, "stat").decode(errors="replace").rpartition(") ")[2]
    return text.split() or [""]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def descend(pid: int) -> Iterator[int]:
    """The living processes below one, itself not among them."""
    for child in children(pid):
        yield child
        yield from descend(child)
