"""Control groups for process trees, where a service manager has delegated one (`Delegate=yes`).

    the unit's group, delegated
    └── flow-MARKER        of one worker
        ├── supervisor     the supervisor, the zygote, and nobody who runs user code
        ├── try-1          a child of the zygote and all that it starts
        └── …

A group is killed by one write to `cgroup.kill` (Linux 5.14), which no fork can outrun and no
session escapes. Processes stand in leaves only, so that controllers may be enabled above them
(cgroups(7), "no internal processes"). Without delegation nothing here is used, and trees are walked
(`flow.process.tree`). Nothing here fails for want of a group: who cannot have one does without.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final, Self

_PREFIX: Final = "flow-"
_OWN: Final = "supervisor"
_TRY: Final = "try-"
_DELEGATED: Final = ("user.delegate", "trusted.delegate")
"""Extended attributes by which systemd says that a group is its processes' own to divide."""
_LOOK_AGAIN: Final = 0.01
"""Seconds between two attempts to remove a group whose processes have just been killed."""
_PATIENCE: Final = 5.0
"""Seconds that killed processes have to be gone."""


def delegated(processes: Path = Path("/proc/self")) -> Path | None:
    """The folder of the v2 group of this process, if it may be divided; else None."""
    folder = own_folder(processes)
    return folder if folder is not None and _is_ours(folder) else None


def common_folder(process: Path = Path("/proc/self")) -> Path | None:
    """The folder of the least v2 group that a process and its tries are in; None: none is seen."""
    folder = own_folder(process)
    return folder.parent if folder is not None and folder.name == _OWN else folder


def own_folder(process: Path) -> Path | None:
    """The folder of the v2 group of a process; None where there is none, or it is not seen."""
    try:
        mounts = (process / "mountinfo").read_text(encoding="utf-8")
        groups = (process / "cgroup").read_text(encoding="utf-8")
    except OSError:
        return None
    return _folder_of(mounts, groups)


def _folder_of(mounts: str, groups: str) -> Path | None:
    """Where the group is mounted, from the texts of mountinfo and cgroup in /proc/PID."""
    own = next((line[3:] for line in groups.splitlines() if line.startswith("0::")), None)
    if own is None:
        return None
    for line in mounts.splitlines():
        fields, _, kind = line.partition(" - ")
        root, mounted = fields.split()[3:5]
        if kind.startswith("cgroup2 ") and Path(own).is_relative_to(root):
            return Path(mounted) / Path(own).relative_to(root)
    return None


def _is_ours(folder: Path) -> bool:
    if not any(_attribute(folder, name) == b"1" for name in _DELEGATED):
        return False
    if not (folder / "cgroup.kill").exists():
        return False
    return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def _attribute(folder: Path, name: str) -> bytes | None:
    try:
        return os.getxattr(folder, name)
    except OSError:
        return None


class WorkerGroup:
    """The groups of one worker, from its supervisor's side."""

    def __init__(self, above: Path, marker: str) -> None:
        self._above = above
        self.path = above / f"{_PREFIX}{marker}"

    @classmethod
    def enter(cls, marker: str, user: int | None = None) -> Self | None:
        """Make the groups of a worker and move this process into its leaf; None: there are none.

        `user` is the id of the user as whom the zygote runs, which makes the groups of tries.
        """
        above = delegated()
        if above is None:
            return None
        made = cls(above, marker)
        try:
            (made.path / _OWN).mkdir(parents=True)
            _move(os.getpid(), made.path / _OWN)
            if user is not None:
                for one in (made.path, made.path / "cgroup.procs"):
                    os.chown(one, user, -1)
        except OSError:
            made.leave()
            return None
        return made

    def end_tries(self) -> None:
        """Kill what is left of all tries, and remove their groups."""
        _end(*self.path.glob(f"{_TRY}*"))

    def end_sibling(self, marker: str) -> None:
        """Kill what a dead worker of the same unit has left, and remove its groups."""
        _end(self._above / f"{_PREFIX}{marker}")

    def leave(self) -> None:
        """Go back to the group above and remove the worker's own, as far as that is possible."""
        self.end_tries()
        try:
            _move(os.getpid(), self._above)
        except OSError:
            return  # controllers were enabled there: the service manager removes the rest
        for folder in (self.path / _OWN, self.path):
            _remove(folder)


class TryGroups:
    """One group for each child of a zygote, by the child's pid. Without `path` there are none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._last = 0
        self._groups: dict[int, Path] = {}
        self._left: list[Path] = []
        """Groups of dead children, to be removed."""

    def admit(self, pid: int) -> None:
        """Give a child that has not begun its work a group of its own."""
        if self._path is None:
            return
        self._last += 1
        folder = self._path / f"{_TRY}{os.getpid()}-{self._last}"
        try:
            folder.mkdir()
            _move(pid, folder)
        except OSError:
            _remove(folder)
            return
        self._groups[pid] = folder

    def kill(self, pid: int) -> bool:
        """SIGKILL all of a child's group; False where it has none and its tree is to be walked."""
        folder = self._groups.get(pid)
        return folder is not None and _kill(folder)

    def bury(self, pid: int) -> None:
        """A process is dead: kill what it left in its group, if it had one; `tidy` removes that."""
        folder = self._groups.pop(pid, None)
        if folder is not None:
            _kill(folder)
            self._left.append(folder)

    def tidy(self) -> None:
        """Remove the groups in which nothing lives any more."""
        self._left = [one for one in self._left if not _remove(one)]


def _move(pid: int, folder: Path) -> None:
    (folder / "cgroup.procs").write_text(str(pid))


def _kill(folder: Path) -> bool:
    try:
        (folder / "cgroup.kill").write_text("1")
    except OSError:
        return False
    return True


def _remove(folder: Path) -> bool:
    """Whether the group is gone."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _end(*folders: Path) -> None:
    """Kill groups with all below them, and remove them as soon as they are empty."""
    for folder in folders:
        _kill(folder)
    deadline = time.monotonic() + _PATIENCE
    for folder in folders:
        below = sorted((one for one in folder.rglob("*") if one.is_dir()), reverse=True)
        for one in (*below, folder):
            while not _remove(one) and time.monotonic() < deadline:
                time.sleep(_LOOK_AGAIN)
