"""The server's process: launch it so that it belongs to nobody, and end it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from flow.embedded import account, pidfile
from flow.embedded.account import Account
from flow.embedded.address import socket_in
from flow.errors import DatabaseError

_POLL: Final = 0.01
FAST_LIMIT: Final = 60.0
"""Seconds in which a server ends after SIGINT, else it gets SIGQUIT and recovers at its start."""
_QUIT_LIMIT: Final = 20.0

_LAUNCH: Final = 'log="$1"; shift; exec "$@" </dev/null >>"$log" 2>&1 & echo $!'
"""The shell ends at once, so the server is no child of Flow: nobody has to collect it, and it
lives on. It is in a session of its own, so Ctrl-C does not reach it."""


def launch(postgres: Path, data: Path, log: Path, owner: Account) -> int:
    """Start the server; returns its process number at once, before it is ready."""
    command: list[str | Path] = ["/bin/sh", "-c", _LAUNCH, "sh", log, postgres, "-D", data]
    code, said, complaint = account.run(owner, command)
    if code != 0 or not said.strip().isdigit():
        raise DatabaseError(
            f"The embedded database could not be launched: {complaint.strip()}",
            "Check that /bin/sh works for the user that runs the database.",
        )
    return int(said)


def remove_leftovers(data: Path, socket_directory: Path) -> None:
    """Remove what a killed server left; only for a caller that has found it dead, under the lock.

    PostgreSQL would refuse to start while the old number belongs to any process of its user.
    It still refuses while a process of the killed server lives: that shows in shared memory.
    """
    socket_path = socket_in(socket_directory)
    socket_lock = socket_path.with_name(f"{socket_path.name}.lock")
    for path in (data / pidfile.NAME, socket_path, socket_lock):
        path.unlink(missing_ok=True)


def end(pid: int, data: Path, patience: float = FAST_LIMIT) -> None:
    """End the server, its connections too, and wait until it is gone.

    Fast first, with a checkpoint; a server that has not done that in `patience` seconds is told
    to quit.
    Raises `DatabaseError` when it survives both, or belongs to somebody else.
    """
    for how, limit in ((signal.SIGINT, patience), (signal.SIGQUIT, _QUIT_LIMIT)):
        if not pidfile.is_alive(pid, data):
            return
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            return
        except PermissionError:
            raise pidfile.foreign(data) from None
        if wait_until(lambda: not pidfile.is_alive(pid, data), limit):
            return
    raise DatabaseError(
        f"The embedded database (process {pid}) does not end.",
        f"Look at what holds it, then end it with: kill -9 {pid}",
    )


def wait_until(condition: Callable[[], bool], limit: float) -> bool:
    """Look every 10 ms; False when the condition did not come true within `limit` seconds."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True
