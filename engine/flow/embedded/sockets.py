"""The directory of the server's socket.

A socket's path may have about 100 bytes. So the directory stands beside the data when its path
is short and plain enough, else under a short directory of the user, by a name derived from the
place of the data. Which one it is gets recorded beside the data: `XDG_RUNTIME_DIR` is not the
same in a login, in cron and in a service.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import Final

from flow.embedded import files
from flow.embedded.account import Account
from flow.embedded.address import socket_in
from flow.errors import DatabaseError

_LONGEST_PATH: Final = 100
"""Bytes; Linux allows 107 and macOS 103 for the whole path of a socket."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./+-]+")
"""libpq and `unix_socket_directories` take a comma for a list, and quote differently."""
_RECORD: Final = "socket-directory"


def recorded(root: Path) -> Path | None:
    """The directory recorded beside the data under `root`, if there is a record."""
    try:
        return Path((root / _RECORD).read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        return None


def choose(root: Path, shared: bool) -> Path:
    """The directory for the server whose data lies under `root`; nothing is made.

    `shared`: other users must be able to reach it, so each directory above must let them pass.
    """
    known = recorded(root)
    if known is not None and known.parent.is_dir() and _suits(known, shared):
        return known
    beside = root / "run"
    if _suits(beside, shared):
        return beside
    return _short_base(shared) / _name_of(root)


def prepare(directory: Path, root: Path, account: Account, shared: bool) -> None:
    """Make the directory and record it beside the data. Raises `DatabaseError` if it is not ours.

    An existing directory is opened for others when `shared` asks for it and never closed again:
    roles that do not ask must not lock out the users of one that does.
    """
    if directory.parent != root:
        _make_base(directory.parent, shared)
    files.make_directory(directory, files.PRIVATE, account)
    if shared:
        open_to_others(directory)
    if recorded(root) != directory:
        files.write(root / _RECORD, f"{directory}\n", account)


def open_to_others(directory: Path) -> None:
    """Let other users reach the socket; `peer` authentication then does the guarding.

    Raises `DatabaseError` when a directory above would stop them all the same.
    """
    if not _lets_others_pass(directory.parent):
        raise DatabaseError(
            f"Other users cannot reach the database's socket in {directory}, because a "
            "directory above it is closed to them.",
            "Stop the database (flow down); at its next start it takes a place they can reach.",
        )
    if stat.S_IMODE(directory.stat().st_mode) != files.PASSABLE:
        directory.chmod(files.PASSABLE)


def _suits(directory: Path, shared: bool) -> bool:
    if not _PLAIN.fullmatch(str(directory)):
        return False
    if len(os.fsencode(socket_in(directory))) > _LONGEST_PATH:
        return False
    return not shared or _lets_others_pass(directory.parent)


def _lets_others_pass(directory: Path) -> bool:
    """Whether every existing directory from here up has the execute bit for others."""
    above = (path for path in (directory, *directory.parents) if path.exists())
    return all(path.stat().st_mode & stat.S_IXOTH for path in above)


def _name_of(root: Path) -> str:
    return hashlib.sha256(os.fsencode(root)).hexdigest()[:12]


def _short_base(shared: bool) -> Path:
    """The user's short directory: in XDG_RUNTIME_DIR, else /run/flow, else in /tmp."""
    run = Path("/run/flow")
    if os.geteuid() == 0:
        return run
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and _is_own(Path(runtime)):
        base = Path(runtime) / "flow"
        if _suits(base / ("0" * 12), shared):
            return base
    if _is_own(run) and _suits(run / ("0" * 12), shared):
        return run
    return Path(f"/tmp/flow-{os.geteuid()}")


def _is_own(directory: Path) -> bool:
    try:
        found = directory.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _make_base(base: Path, shared: bool) -> None:
    """Make the short directory, or check that nobody else can write in the one that is there.

    As root it is passable, because the server's account must get to its own directory inside.
    """
    mode = files.PASSABLE if shared or os.geteuid() == 0 else files.PRIVATE
    if files.appear(base, mode):
        return
    found = base.lstat()
    trusted = os.geteuid() == 0 or found.st_uid in (0, os.geteuid())
    if not stat.S_ISDIR(found.st_mode) or not trusted or found.st_mode & 0o022:
        raise DatabaseError(
            f"The embedded database cannot use {base}: it is not a directory that only this "
            "user can write in.",
            f"Look who made {base} and remove it, or set a shorter FLOW_HOME.",
        )
    if shared and found.st_uid == os.geteuid() and not found.st_mode & stat.S_IXOTH:
        base.chmod(files.PASSABLE)
