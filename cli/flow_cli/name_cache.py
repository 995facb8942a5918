"""The names that completion offers: kept in files, so that it needs no database.

Each deployment has a folder in the user's cache, with one file for the ids of all DAGs and the
names of all pools, and one for the runs and tasks of each DAG that somebody has asked about. A file
begins with a line that says its format; one of another format counts as missing. Files are written
whole or not at all, and only their owner reads them. This module loads next to nothing.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Container, Mapping, Sequence
from enum import StrEnum
from errno import EPERM
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flow.config import user_folder

if TYPE_CHECKING:
    from flow.settings import Settings

FRESH_FOR: Final = 15.0
"""Seconds for which a file is as good as new."""
FORGOTTEN_AFTER: Final = 30 * 86_400.0
"""Seconds after which a file that nobody has asked for again is removed."""
_FORMAT: Final = "flow names 1"
_COMMON: Final = "common"
_LOCK: Final = "lock"


class Kind(StrEnum):
    """What a name is the name of."""

    DAG = "dag"
    RUN = "run"
    TASK = "task"
    POOL = "pool"


class NameCache:
    """The files of one deployment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def lock(self) -> Path:
        """The file that whoever refreshes the others holds, and touches when it begins."""
        return self.folder / _LOCK

    def names(self, kind: Kind, prefix: str, dag_id: str | None = None) -> list[str]:
        """The names of a kind that begin so, in order; runs and tasks are those of a DAG."""
        if kind in (Kind.RUN, Kind.TASK):
            return _read(self._of(dag_id), kind, prefix) if dag_id is not None else []
        return _read(self._of(None), kind, prefix)

    def stale(self, dag_ids: Sequence[str]) -> bool:
        """Whether the common file, or that of one of these DAGs, is missing or old."""
        return any(_age(self._of(dag_id)) > FRESH_FOR for dag_id in (None, *dag_ids))

    def write(self, dag_id: str | None, names: Mapping[Kind, Sequence[str]]) -> None:
        """Replace the file of a DAG, or the common one. Raises `OSError`."""
        lines = [f"{kind} {name}" for kind, listed in names.items() for name in sorted(listed)]
        whole = self._of(dag_id)
        half = whole.with_name(f"{whole.name}.{os.urandom(4).hex()}")
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in (_FORMAT, *lines))
            half.replace(whole)
        except BaseException:
            half.unlink(missing_ok=True)
            raise

    def make(self) -> None:
        """Make the folder. Raises `OSError`; `PermissionError` where another user has one.

        With somebody else's HOME, as after su, that user would lose names that only we may read,
        and could have us write where a link of theirs points.
        """
        around = next(folder for folder in self.folder.parents if folder.exists())
        _refuse_of_others(around, {0, os.geteuid()})
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.folder, self.folder.parent):
            _refuse_of_others(folder, {os.geteuid()})

    def forget_old(self) -> None:
        """Remove files that have not been written for long, here and of other deployments."""
        for folder in self.folder.parent.iterdir():
            if folder.is_symlink():
                continue  # what lies behind it is not ours
            for file in folder.glob("*"):
                if _age(file) > FORGOTTEN_AFTER:
                    file.unlink(missing_ok=True)

    def _of(self, dag_id: str | None) -> Path:
        """An id may be longer than a name of a file, which may not differ in case alone."""
        return self.folder / (_COMMON if dag_id is None else _digest(dag_id))


def cache_of(settings: Settings, environ: Mapping[str, str] = os.environ) -> NameCache:
    """The cache of a deployment, which is where its state and its database are."""
    where = _digest(f"{settings.home}\n{settings.database.url or ''}")
    base = user_folder(environ, "XDG_CACHE_HOME", ".cache")
    return NameCache(base / "names" / where)


def _refuse_of_others(folder: Path, owners: Container[int]) -> None:
    if folder.stat().st_uid not in owners:
        raise PermissionError(EPERM, "it is a folder of another user", str(folder))


def _read(file: Path, kind: Kind, prefix: str) -> list[str]:
    try:
        first, *lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    if first != _FORMAT:
        return []
    wanted, begin = f"{kind} {prefix}", len(kind) + 1
    return [line[begin:] for line in lines if line.startswith(wanted)]


def _age(file: Path) -> float:
    """Seconds since a file was written; infinite for one that is not there."""
    try:
        return time.time() - file.stat().st_mtime
    except OSError:
        return float("inf")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
