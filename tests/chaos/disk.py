"""The small disk that the logs of tries are on, and filling it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

_SIZE: Final = "256m"
"""A try takes a page of it, and a long story has more than twenty thousand."""
_PIECE: Final = bytes(1 << 16)


class LogDisk:
    """A file system of its own at `folder`, where this process may mount one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.reason = self._mount()
        """Why it is no file system of its own; None when it is."""

    def fill(self) -> None:
        """Leave no room on it."""
        with self._filler.open("wb", buffering=0) as file:
            try:
                while file.write(_PIECE):
                    pass
            except OSError:
                pass  # it is full

    def empty(self) -> None:
        """Give the room back."""
        self._filler.unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount it."""
        if self.reason is None:
            subprocess.run(["umount", "--lazy", self.folder], check=True)

    @property
    def _filler(self) -> Path:
        return self.folder / "filler"

    def _mount(self) -> str | None:
        if os.geteuid() != 0:
            return "only root can mount a small disk for the logs"
        command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE},mode=755", "none", self.folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return (
            None if done.returncode == 0 else f"no small disk for the logs: {done.stderr.strip()}"
        )
