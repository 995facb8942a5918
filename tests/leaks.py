"""Which processes a test session has left behind.

Every process started by a test inherits a variable that names the session. The embedded PostgreSQL
does not: its environment is fixed. In CI, where nothing else runs, each server counts that was
started while the session ran.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

VARIABLE = "UNDER_TEST_SESSION"


class Session:
    """A test session: marks its processes from its beginning, and finds them at its end."""

    def __init__(self) -> None:
        self.name = secrets.token_hex(8)
        self.began = time.time()
        os.environ[VARIABLE] = self.name

    def leftovers(self) -> list[str]:
        """Pids and command lines of what still runs; this process and its parents do not count."""
        own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
        return [
            f"{process.pid} {command}"
            for process, command in _alive()
            if process.pid not in own
            and (self._is_marked(process) or self._is_server(process, command))
        ]

    def _is_marked(self, process: psutil.Process) -> bool:
        return has_variable(process.pid, VARIABLE, self.name)

    def _is_server(self, process: psutil.Process, command: str) -> bool:
        # Outside CI it may belong to another session on the same machine.
        return (
            os.environ.get("CI") == "true"
            and _is_postmaster(command)
            and process.create_time() >= self.began
        )


def has_variable(pid: int, name: str, value: str) -> bool:
    """Whether the process was started with this environment variable; False where it is hidden."""
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return f"{name}={value}".encode() in variables


def _alive() -> Iterator[tuple[psutil.Process, str]]:
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                yield process, " ".join(process.cmdline())
        except psutil.NoSuchProcess:
            continue


def _is_postmaster(command: str) -> bool:
    program, _, rest = command.partition(" ")
    return Path(program).name == "postgres" and "-D " in rest
