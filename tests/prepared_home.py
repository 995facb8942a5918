"""A home to begin a deployment with: its database is migrated, as after `flow db migrate`.

Making one takes seconds of a processor, copying one a fraction of that. So each process of a test
session makes one, at the first need, and forgets it at its end.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import psycopg

from flow.embedded import Server
from flow.store.migrate import migrate

MADE = "FLOW_TEST_PREPARED_HOME"
"""Names what a session before has made and will forget itself, as `made` says it."""
_KEPT = ("data", "binaries-*")
"""What a server leaves that holds no name of a place."""
_made: list[Path] = []


def copy_to(home: Path) -> None:
    """Make a FLOW_HOME whose server does not run yet. Raises NoPostgres where there is none."""
    source = made() / "h" / "postgres"
    home.mkdir(mode=0o755)
    root = home / "postgres"
    root.mkdir()
    _dress(root, source)
    for pattern in _KEPT:
        for kept in source.glob(pattern):
            subprocess.run(["cp", "--archive", "--", kept, root], check=True)


def made() -> Path:
    """The folder of the home that others are copied from. Raises NoPostgres where there is none."""
    given = os.environ.get(MADE)
    if given:
        return Path(given)
    if not _made:
        _made.append(_make())
    return _made[0]


def forget() -> None:
    """Remove what this process has made."""
    while _made:
        shutil.rmtree(_made.pop())


def _dress(path: Path, like: Path) -> None:
    """Give a path the mode and the owner of another one."""
    found = like.stat()
    path.chmod(stat.S_IMODE(found.st_mode))
    os.chown(path, found.st_uid, found.st_gid)


def _make() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fh-", dir="/tmp"))
    folder.chmod(0o755)  # the server's account goes through it
    server = Server(folder / "h")
    dsn = server.start()
    try:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            # The data of tests need not survive a power cut.
            conn.execute("alter system set fsync = off")
    finally:
        elsewhere = server.socket_directory
        server.stop()
        if folder not in elsewhere.parents:
            shutil.rmtree(elsewhere, ignore_errors=True)
    return folder
