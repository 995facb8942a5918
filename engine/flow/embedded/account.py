"""The operating system's user that the server runs as.

An ordinary user runs the server itself. PostgreSQL refuses to run as root, so for root it is the
owner of existing data, else `flow` (made when missing), else `postgres`. Never `nobody`: what
that user owns is shared with every other service that runs as it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flow.errors import DatabaseError

NAME: Final = "flow"
_SUBSTITUTE: Final = "postgres"
_ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "TZ": "UTC"}
"""All that the server's programs see: Flow's own environment holds secrets, and PG* variables
would change what they do."""


@dataclass(frozen=True)
class Account:
    """A user of the operating system that can run the server."""

    name: str
    uid: int
    gid: int

    @property
    def is_for_people(self) -> bool:
        """Whether logind takes this for a person's account (above `SYS_UID_MAX`)."""
        return self.uid > 999


def for_server(data: Path) -> Account:
    """The account that runs (or is going to run) the server over `data`.

    Raises `DatabaseError` when there is none. As root it may make the user `flow`.
    """
    if os.geteuid() != 0:
        return _by_uid(os.geteuid())
    try:
        owner = data.stat().st_uid
    except FileNotFoundError:
        return _by_name(NAME) or _make() or _by_name(_SUBSTITUTE) or _none()
    if owner == 0:
        raise DatabaseError(
            f"The data in {data} belongs to root, and PostgreSQL does not run as root.",
            f"Give it to the user it is meant for: chown -R {NAME}: {data}",
        )
    return _by_uid(owner)


def run(account: Account, command: Sequence[str | Path], text: str = "") -> tuple[int, str, str]:
    """Run a program as the account, apart from this process's terminal, environment and files.

    `text` is its standard input. Returns exit code, standard output, standard error.
    """
    is_root = os.geteuid() == 0
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env=_ENVIRONMENT,
        umask=0o077,
        start_new_session=True,
        user=account.uid if is_root else None,
        group=account.gid if is_root else None,
        extra_groups=[] if is_root else None,
    )
    return done.returncode, done.stdout, done.stderr


def can_enter(account: Account, path: Path) -> bool:
    """Whether the account may enter a directory, or execute a file.

    Asked by trying: mode bits alone would not show access control lists.
    """
    code, _, _ = run(account, ["/bin/sh", "-c", 'test -x "$1"', "sh", path])
    return code == 0


def _by_name(name: str) -> Account | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _by_uid(uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise DatabaseError(
            f"The user id {uid} has no name on this host, and PostgreSQL needs one to know its "
            "users by.",
            "Add the user to /etc/passwd, or use a database of your own by its URL.",
        ) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _make() -> Account | None:
    """Make the system user. None when this host has no `useradd` or it refuses."""
    program = shutil.which("useradd", path=_ENVIRONMENT["PATH"])
    if program is None:
        return None
    options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/var/lib/flow"]
    subprocess.run(
        [program, *options, "--shell", "/usr/sbin/nologin", NAME],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    # Another process may have made it first: what counts is that it is there now.
    return _by_name(NAME)


def _none() -> Account:
    raise DatabaseError(
        f"PostgreSQL does not run as root, and there is neither a user {NAME} nor {_SUBSTITUTE}.",
        f"Make one (useradd --system {NAME}), or run Flow as an ordinary user.",
    )
