"""Telling a worker's own processes, and those of a predecessor that died, from all others.

A worker holds a lock on a file of its own as long as it lives. The file's text is the marker that
all its processes carry in their environment. A successor on the same host that can take the lock
knows that the worker is dead, and by the marker what it left behind.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from pathlib import Path


class Marker:
    """The marker and the lock of a worker that lives."""

    def __init__(self, home: Path) -> None:
        self.text = uuid.uuid4().hex
        self._folder = home / "run"
        self._path: Path | None = None
        self._descriptor: int | None = None

    def take(self, process_id: int) -> None:
        """Hold the lock for this process row; a former one is given up."""
        self.drop()
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"worker-{process_id}.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, self.text.encode(), 0)
        self._path, self._descriptor = path, descriptor

    def drop(self) -> None:
        """Give up the lock; dropping twice is legal."""
        if self._path is not None and self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
        self._path = self._descriptor = None


def of_dead(home: Path) -> list[tuple[int, str]]:
    """The workers of this home that have died: their process ids and markers."""
    found = []
    for path in sorted((home / "run").glob("worker-*.lock")):
        number = path.stem.removeprefix("worker-")
        text = _text_of_dead(path)
        if text and number.isdigit():
            found.append((int(number), text))
    return found


def _text_of_dead(path: Path) -> str | None:
    """The marker in the file of a dead worker; None if it lives, "" if it died as it registered."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.pread(descriptor, 64, 0).decode()
    except BlockingIOError:
        return None
    finally:
        os.close(descriptor)


def forget(home: Path, process_id: int) -> None:
    """Remove what a dead worker left of its lock."""
    (home / "run" / f"worker-{process_id}.lock").unlink(missing_ok=True)
