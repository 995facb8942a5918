"""Everything on one machine: whether `flow up` runs here, starting it, and stopping it.

`flow up` holds a lock on `HOME/run/up.lock` as long as it lives; the file's text is its pid.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from flow.errors import Conflict, FlowError
from flow.store import locate, processes
from flow.store.connect import connect

if TYPE_CHECKING:
    from flow.settings import Settings

_ROLES: Final = ("parse", "schedule", "work")
_LOOK_AGAIN: Final = 0.05
"""Seconds between two looks at whether the roles are there."""
_SECOND_ASK: Final = 1.0
"""Seconds before the second SIGTERM, which ends what runs: one that comes at once may merge."""


class UpLock:
    """Held by the one `flow up` of a home. Raises `Conflict` when another one holds it."""

    def __init__(self, home: Path) -> None:
        self._path = home / "run" / "up.lock"

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.pread(self._descriptor, 32, 0).decode() or "?"
            os.close(self._descriptor)
            raise Conflict(
                f"flow up runs here already (pid {pid})", "stop it with `flow down`"
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def up_pid(home: Path) -> int | None:
    """The pid of the `flow up` that runs here; None when none does."""
    try:
        descriptor = os.open(home / "run" / "up.lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        text = os.pread(descriptor, 32, 0).decode()
        return int(text) if text else None
    finally:
        os.close(descriptor)


def start_detached(arguments: Sequence[str], log: Path, home: Path, dsn: str) -> None:
    """Start `flow` with `arguments` in a session of its own and wait until its roles are there.

    Its output is appended to `log`. Raises `Conflict` when one runs here already, and `FlowError`
    when it ends before its roles have registered.
    """
    pid = up_pid(home)
    if pid is not None:
        raise Conflict(f"flow up runs here already (pid {pid})", "stop it with `flow down`")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file, connect(dsn, name="up") as conn:
        known = {one.process_id for one in processes.alive(conn, _ROLES)}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "flow_cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
        while {o.role for o in processes.alive(conn, _ROLES) if o.process_id not in known} != set(
            _ROLES
        ):
            if process.poll() is not None:
                raise FlowError(
                    f"flow up ended at once (exit code {process.returncode})", f"see {log}"
                )
            time.sleep(_LOOK_AGAIN)


class Stopped(NamedTuple):
    """What was stopped: `flow up` with its roles, and the embedded database."""

    up: bool
    database: bool


def stop(settings: Settings, *, at_once: bool, timeout: float | None) -> Stopped:
    """Stop what `flow up` has started, at most `timeout` seconds long; what does not run is fine.

    `at_once` does not wait for tries that run. Raises `FlowError` when they still do after the
    timeout; then the database goes on.
    """
    stopped = stop_up(settings.home, at_once=at_once, timeout=timeout)
    if stopped is False:
        raise FlowError("flow up still waits for running tries", "wait, or run `flow down --now`")
    if settings.database.url is not None:
        return Stopped(stopped is True, database=False)
    server = locate.embedded(settings)
    running = server.running()
    server.stop()
    return Stopped(stopped is True, database=running)


def stop_up(home: Path, *, at_once: bool, timeout: float | None) -> bool | None:
    """Ask the `flow up` of `home` to end and wait for it, at most `timeout` seconds.

    Returns None when none ran, False when it still runs after the timeout. `at_once` does not wait
    for tries that run.
    """
    pid = up_pid(home)
    if pid is None:
        return None
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        if at_once and not select.select([descriptor], [], [], _SECOND_ASK)[0]:
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        ready, _, _ = select.select([descriptor], [], [], timeout)
        return bool(ready)
    finally:
        os.close(descriptor)
