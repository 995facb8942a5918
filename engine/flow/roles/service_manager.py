"""What a role tells the service manager that started it: the protocol of sd_notify(3).

A role is ready when the database has answered, and alive as long as its loop comes round: turns
are progress, and so are attempts to reach a database that is away. A loop that hangs says nothing,
and the manager's watchdog ends it. While a role waits for its database at the start, or drains at
the end, each turn also asks for more time, so that limits on starting and stopping strike a role
that hangs and not one that waits. Where nobody listens, nothing happens.
"""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Final

EXTENSION: Final = 120.0
"""Seconds until a role that starts or drains is heard of again: more than a turn of its loop takes
(a statement may take 60 s)."""
_PAUSE: Final = 2.0
"""Seconds between two status lines, at least, while the role goes on doing the same."""
_WATCHDOG_SHARE: Final = 0.25
"""Part of the watchdog's time after which the next sign of life is due."""
_EXTENSION_SHARE: Final = 0.1
"""Part of an extension after which the next one is asked for."""


class ServiceManager:
    """Signs of life of one process. `environ` names the socket and the watchdog's time.

    `clock` gives seconds of a monotonic clock.
    """

    def __init__(
        self, environ: Mapping[str, str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._socket = _connect(environ.get("NOTIFY_SOCKET", ""))
        self._watchdog = _watchdog(environ) if self._socket else math.inf
        self._ready = False
        self._stopping = False
        self._status = ""
        self._status_at = -math.inf
        self._alive_at = -math.inf
        self._extended_at = -math.inf

    @property
    def patience(self) -> float:
        """Seconds after which the loop has to come round at the latest; infinity: any time."""
        return self._watchdog * _WATCHDOG_SHARE

    def ready(self) -> None:
        """The database has answered; saying it again is legal."""
        if not self._ready:
            self._ready = self._send("READY=1")
            self._status_at = -math.inf

    def stopping(self) -> None:
        """The role takes nothing new and ends when it is done; saying it again is legal."""
        if not self._stopping:
            self._stopping = self._send(f"STOPPING=1\n{_extension()}")
            self._status_at = -math.inf

    def progress(self, describe: Callable[[], str]) -> None:
        """The loop has come round; `describe` is asked for the status line when one is due."""
        if self._socket is None:
            return
        now = self._clock()
        if now - self._alive_at >= self.patience and self._send("WATCHDOG=1"):
            self._alive_at = now
        if not self._ready or self._stopping:
            self._extend(now)
        if now - self._status_at >= _PAUSE:
            self._say(describe(), now)

    def close(self) -> None:
        """Close the socket; nothing can be said any more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _extend(self, now: float) -> None:
        due = now - self._extended_at >= EXTENSION * _EXTENSION_SHARE
        if due and self._send(_extension()):
            self._extended_at = now

    def _say(self, status: str, now: float) -> None:
        if status != self._status and self._send(f"STATUS={status}"):
            self._status, self._status_at = status, now

    def _send(self, text: str) -> bool:
        """Whether the manager has it. A full socket is no reason to wait: it is said again."""
        if self._socket is None:
            return False
        try:
            self._socket.send(text.encode())
        except OSError:
            return False
        return True


def _extension() -> str:
    return f"EXTEND_TIMEOUT_USEC={int(EXTENSION * 1e6)}"


def _connect(address: str) -> socket.socket | None:
    """The manager's socket; a name that begins with @ is in the abstract namespace."""
    if not address.startswith(("/", "@")):
        return None
    line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    line.setblocking(False)
    try:
        line.connect("\0" + address[1:] if address.startswith("@") else address)
    except OSError:
        line.close()
        return None
    return line


def _watchdog(environ: Mapping[str, str]) -> float:
    """Seconds of silence after which the watchdog bites; infinity without one (sd_watchdog(3))."""
    microseconds = environ.get("WATCHDOG_USEC", "")
    pid = environ.get("WATCHDOG_PID", "") or str(os.getpid())
    if not microseconds.isdecimal() or int(microseconds) == 0 or pid != str(os.getpid()):
        return math.inf
    return int(microseconds) / 1e6


NOBODY: Final = ServiceManager({})
"""No service manager listens."""
