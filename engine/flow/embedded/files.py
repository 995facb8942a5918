"""Directories and files that belong to the server's account.

As root these functions act on directories in which the less privileged account may write, so
they follow no symbolic link in the last step, and a file appears whole or not at all.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flow.embedded.account import Account
from flow.errors import DatabaseError

PRIVATE: Final = 0o700
PASSABLE: Final = 0o711
"""Others may pass through to a name they know, but not list what is there."""


def make_directory(path: Path, mode: int, account: Account) -> None:
    """Make the directory if it is missing, owned by the account.

    An existing one keeps its mode and must belong to the account. Raises `DatabaseError`.
    """
    if not appear(path, mode, account):
        require_owner(path, account)


def appear(path: Path, mode: int, account: Account | None = None) -> bool:
    """Make a directory that has its mode and owner from its first moment; False if it was there.

    Processes that start at once must never see it half made, so it is made under another name.
    When two make it at once, the later empty one takes the place of the other empty one.
    """
    if os.path.lexists(path):
        return False
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        if account is not None and os.geteuid() == 0:
            os.chown(partial, account.uid, account.gid)
        partial.chmod(mode)
        partial.rename(path)
    except OSError as problem:
        partial.rmdir()
        if problem.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            return False
        raise
    return True


def require_owner(path: Path, account: Account) -> None:
    """Raise `DatabaseError` unless `path` is a directory of the account, closed to writers.

    A symbolic link, or a directory that somebody else may write in, could be put there to
    receive what is meant for the server.
    """
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        problem = "is not a directory"
    elif found.st_uid != account.uid:
        problem = f"belongs to user id {found.st_uid}, not to {account.name}"
    elif found.st_mode & 0o022:
        problem = "can be written by others"
    else:
        return
    raise DatabaseError(
        f"The embedded database cannot use {path}: it {problem}.",
        f"Run Flow as the owner of {path} or as root, or remove it, or set another FLOW_HOME.",
    )


def make_home(home: Path) -> None:
    """Make FLOW_HOME and its missing parents.

    As root they are open to passers-by, because the server's account must get through; what is
    inside guards itself. A directory that exists keeps its mode: it is somebody's.
    """
    mode = 0o755 if os.geteuid() == 0 else PRIVATE
    missing = [path for path in (home, *home.parents) if not path.exists()]
    for path in reversed(missing):
        appear(path, mode)


def write(path: Path, text: str, account: Account) -> None:
    """Put a file of mode 0600 in place at once, and onto the disk."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(partial, flags, 0o600), "w", encoding="utf-8") as file:
        if os.geteuid() == 0:
            os.fchown(file.fileno(), account.uid, account.gid)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    synchronise(path.parent)


def synchronise(directory: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def copy_trees(sources: Mapping[str, Path], target: Path) -> None:
    """Copy directories to their names below `target`, so that everybody can read and run them.

    The copy gets its name when it is complete. Modes come from the owner's bits alone: a tree
    installed under a strict umask is closed to others.
    """
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for name, source in sources.items():
        shutil.copytree(source, partial / name, symlinks=True)
    for path in (partial, *partial.rglob("*")):
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if executable else 0o644)
    partial.rename(target)
    synchronise(target.parent)
