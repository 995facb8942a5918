"""A named pipe as the log of a job, for a supervisor that reads along."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from flow.process.environment import TaskUser

_READ: Final = 64 * 1024
_MOST_READS: Final = 64
"""Reads at one go, so that a flood from one child does not hold up the others."""


class NamedPipe:
    """The reading end, for a selector. `path` must not exist yet; `user` may write to it too.

    Whoever gives it to another user is root or in that user's group.
    """

    def __init__(self, path: Path, user: TaskUser | None = None) -> None:
        self.path = path
        os.mkfifo(path, 0o600)
        if user is not None:
            os.chown(path, -1, user.gid)
            path.chmod(0o620)
        # Opened for writing too, so that it does not end when a child closes its output.
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._made_as = _identity(os.fstat(self._descriptor))

    def fileno(self) -> int:
        return self._descriptor

    def read(self) -> bytes:
        """What is there, a bounded amount of it; never blocks."""
        read = bytearray()
        for _ in range(_MOST_READS):
            try:
                read += os.read(self._descriptor, _READ)
            except BlockingIOError:
                break
        return bytes(read)

    def intact(self) -> bool:
        """Whether the path still leads to it, for the same users: a job may change its log."""
        try:
            return _identity(self.path.lstat()) == self._made_as
        except OSError:
            return False

    def close(self) -> bytes:
        """Remove the pipe; what was still in it."""
        rest = self.read()
        os.close(self._descriptor)
        self.path.unlink(missing_ok=True)
        return rest


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mode, status.st_gid
