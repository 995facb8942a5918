"""The folder of the logs, where tasks run as another user: they write their logs themselves."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from flow.errors import ConfigError
from flow.process.environment import TaskUser


def share(root: Path, user: TaskUser) -> None:
    """Let the group of `user` write below `root`, which is made when it is missing.

    Where somebody else owns the folder, it is theirs to open. Raises `ConfigError` when it cannot
    be made, or is ours and cannot be given to the group.
    """
    try:
        root.mkdir(mode=0o750, parents=True, exist_ok=True)
        found = root.stat()
        if os.geteuid() not in (0, found.st_uid):
            return
        if found.st_gid != user.gid:
            os.chown(root, -1, user.gid)
        root.chmod(stat.S_IMODE(found.st_mode) | stat.S_IRWXG)
    except OSError as error:
        raise ConfigError(
            f"{root} cannot be opened to the group of {user.name}, who is to write logs there:"
            f" {error.strerror}",
            "let the worker's user be in that group, or name another folder: logs.root",
        ) from error
