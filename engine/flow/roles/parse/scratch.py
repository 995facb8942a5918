"""The folder of the pipes into which imports print; a killed processor leaves one behind.

Whoever uses such a folder holds a lock on it. So the next processor can tell one that nobody needs
any more, and removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

_PREFIX: Final = "flow-imports-"
_UNLOCKED: Final = "flow-new-imports-"
"""Until it is locked a folder has another name: nobody may take it for one that is left over."""


class Scratch:
    """A folder of one's own. Makes it, and removes those that dead processes of this user left."""

    def __init__(self) -> None:
        place = Path(tempfile.gettempdir())
        _clear(place)
        made = Path(tempfile.mkdtemp(prefix=_UNLOCKED, dir=place))
        made.chmod(0o711)  # a task user has to reach the pipes, by their names
        self._lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = made.rename(place / (_PREFIX + made.name.removeprefix(_UNLOCKED)))

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _clear(place: Path) -> None:
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            if folder.lstat().st_uid == os.getuid():
                _remove_unless_used(folder)
        except OSError:
            pass  # gone meanwhile, or no folder


def _remove_unless_used(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        pass  # its processor is alive
    finally:
        os.close(descriptor)
