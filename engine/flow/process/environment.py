"""What of a role's environment the processes that run user code may see."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flow.errors import ConfigError

MARKER: Final = "FLOW_WORKER"
"""Variable that tells whose a process is, to the end of all leftovers of that worker."""

_SECRET: Final = frozenset({"CREDENTIALS_DIRECTORY"})
_SECRET_PREFIXES: Final = ("PG", "FLOW_DATABASE_", "FLOW_CONN_", "FLOW_VAR_", "FLOW_KEY")
_SERVICE: Final = frozenset(
    {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}
)
"""What a service manager says to the role alone (sd_notify(3), sd_listen_fds(3))."""


def scrubbed(environ: Mapping[str, str], worker: str) -> dict[str, str]:
    """The environment without logins, keys, connections and variables, marked with the worker."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _SECRET and name not in _SERVICE and not name.startswith(_SECRET_PREFIXES)
    }
    return kept | {MARKER: worker}


def marker(worker: str) -> str:
    """The environment entry that marks the processes of a worker."""
    return f"{MARKER}={worker}"


@dataclass(frozen=True, slots=True)
class TaskUser:
    """The operating system user as whom user code runs."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str

    @classmethod
    def named(cls, name: str) -> TaskUser:
        """Look a user up. Raises ConfigError if this host does not know the name."""
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            raise ConfigError(
                f"task_user: this host has no user {name!r}",
                "create it, or set task_user to one that exists",
            ) from None
        groups = tuple(os.getgrouplist(name, entry.pw_gid))
        return cls(name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir)

    def environment(self) -> dict[str, str]:
        """Variables that name the user."""
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name}
