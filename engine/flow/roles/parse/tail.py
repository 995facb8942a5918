"""The last of what an import prints.

The child writes to a named pipe, of which this end keeps the last bytes and drops the rest. A file
would grow with the output: one that prints without end could fill the disk within its time limit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from flow.process.environment import TaskUser
from flow.process.pipe import NamedPipe

KEPT: Final = 8 * 1024
"""Bytes."""


class Tail:
    """One named pipe, readable in a selector. `path` must not exist yet."""

    def __init__(self, path: Path, user: TaskUser | None = None) -> None:
        self.path = path
        self._pipe = NamedPipe(path, user)
        self._kept = bytearray()
        self._dropped = 0

    def fileno(self) -> int:
        return self._pipe.fileno()

    def read(self) -> None:
        """Take what is there, a bounded amount of it."""
        self._keep(self._pipe.read())

    def take(self) -> str | None:
        """What the dead child printed last; None if it printed nothing. Then it is empty."""
        self._keep(self._pipe.read())
        text = self._kept.decode("utf-8", "backslashreplace").rstrip()
        if self._dropped:
            text = f"… {self._dropped:,} bytes left out …\n{text}"
        self._kept.clear()
        self._dropped = 0
        return text or None

    def intact(self) -> bool:
        """Whether another child may write to it."""
        return self._pipe.intact()

    def close(self) -> None:
        """Remove the pipe."""
        self._pipe.close()

    def _keep(self, data: bytes) -> None:
        self._kept += data
        excess = len(self._kept) - KEPT
        if excess > 0:
            del self._kept[:excess]
            self._dropped += excess
