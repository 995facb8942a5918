"""The last of what an import prints.

The child writes to a named pipe, of which this end keeps the last bytes and drops the rest. A file
would grow with the output: one that prints without end could fill the disk within its time limit.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from flow.process.environment import TaskUser

KEPT: Final = 8 * 1024
"""Bytes."""
_READ: Final = 64 * 1024
_MOST_READS: Final = 64
"""Reads at one go, so that a flood from one child does not hold up the others."""


class Tail:
    """One named pipe, readable in a selector. `path` must not exist yet."""

    def __init__(self, path: Path, user: TaskUser | None = None) -> None:
        self.path = path
        os.mkfifo(path, 0o600)
        if user is not None:
            os.chown(path, user.uid, user.gid)
        # Opened for writing too, so that it does not end when a child closes its output.
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._kept = bytearray()
        self._dropped = 0

    def fileno(self) -> int:
        return self._descriptor

    def read(self) -> None:
        """Take what is there, a bounded amount of it."""
        for _ in range(_MOST_READS):
            try:
                data = os.read(self._descriptor, _READ)
            except BlockingIOError:
                return
            self._kept += data
            excess = len(self._kept) - KEPT
            if excess > 0:
                del self._kept[:excess]
                self._dropped += excess

    def close(self) -> str | None:
        """What the dead child printed last; None if it printed nothing."""
        self.read()
        os.close(self._descriptor)
        self.path.unlink(missing_ok=True)
        text = self._kept.decode("utf-8", "backslashreplace").rstrip()
        if self._dropped:
            return f"… {self._dropped:,} bytes left out …\n{text}"
        return text or None
