"""The unit files of one machine: the templates, and what is filled in.

A template is a unit file with `@name@` where machines differ. Units of the system run the roles as
`flow` and users' code as another user, with the login as a credential; those of a user run
everything as that user and read the settings that the user has.
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from flow.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from flow.config import Config

ROLE_USER: Final = "flow"
"""The user of the roles, as in the templates of the system's units."""
TASK_USER: Final = "flow-task"
"""The user of users' code where worker.task_user does not name another one."""
DATABASE: Final = Path("/etc/flow/database")
"""Folder whose files become credentials: `url`, and `direct_url` behind a connection pooler."""
COMMAND: Final = (sys.executable, "-P", "-m", "flow_cli")
"""-P: a `json.py` in the working folder is not Python's."""

_SYSUSERS: Final = ".sysusers"
_BACK_OFF_SINCE: Final = 254
"""The first version of systemd that knows RestartSteps=; others would warn about it."""
_BACK_OFF: Final = "RestartSec=100ms\nRestartSteps=8\nRestartMaxDelaySec=5s"
_NO_BACK_OFF: Final = "RestartSec=1s"
_PLACEHOLDER: Final = re.compile(r"@([a-z_]+)@")
_ILLEGAL: Final = re.compile(r"""["'\\\x00-\x1f\x7f]""")


class Scope(StrEnum):
    """Whose units: the system's or one user's."""

    SYSTEM = "system"
    USER = "user"


class UnitFile(NamedTuple):
    """A file and what stands in it."""

    path: Path
    text: str

    @property
    def is_unit(self) -> bool:
        """Whether it is a unit, and no list of users."""
        return self.path.suffix in (".target", ".service")


def folders(scope: Scope, environ: Mapping[str, str] = os.environ) -> tuple[Path, Path]:
    """Where units go, and where lists of users go."""
    if scope is Scope.SYSTEM:
        return Path("/etc/systemd/system"), Path("/etc/sysusers.d")
    named = environ.get("XDG_CONFIG_HOME")
    base = Path(named) if named else Path(environ.get("HOME") or Path.home(), ".config")
    return base / "systemd" / "user", base / "systemd" / "user"


def fill(
    templates: Mapping[str, str], scope: Scope, config: Config, version: int
) -> list[UnitFile]:
    """The files of a scope from its templates, by name, for a `version` of systemd.

    Raises `ConfigError` for a path or name that no unit file can hold, and `UsageError` for a
    user of the tasks who could read what the roles have.
    """
    values = {
        "command": command_line([*COMMAND, *_globals(config)]),
        "home": _path(config.settings.home),
        "restart": _BACK_OFF if version >= _BACK_OFF_SINCE else _NO_BACK_OFF,
    }
    if scope is Scope.SYSTEM:
        values |= _of_system(config)
    units, users = folders(scope)
    return [
        UnitFile(
            users / f"{Path(name).stem}.conf" if name.endswith(_SYSUSERS) else units / name,
            _PLACEHOLDER.sub(lambda found: values[found[1]], text),
        )
        for name, text in sorted(templates.items())
    ]


def command_line(words: Sequence[str]) -> str:
    """A command as ExecStart= takes it (systemd.service(5), "Command lines")."""
    return " ".join(_quoted(_legal(word).replace("$", "$$")) for word in words)


def _of_system(config: Config) -> dict[str, str]:
    settings = config.settings
    user = settings.worker.task_user or TASK_USER
    if user in ("root", ROLE_USER):
        raise UsageError(
            f"worker.task_user is {user}, who can read the database login of the roles",
            "name a user of its own, or leave the setting out: then it is flow-task",
        )
    return {
        "task_user": _legal(user),
        "task_group": _legal(_group(user)),
        "logs": _path(settings.logs.root),
        "database": _path(DATABASE),
        "database_url": _path(DATABASE / "url"),
        "key_file": _path(settings.secrets.key_file),
    }


def _globals(config: Config) -> list[str]:
    """The options by which the roles find the same settings, wherever they start."""
    said = ["--config", str(config.file.resolve())] if config.file else []
    return [*said, "--deployment", config.deployment] if config.deployment else said


def _group(user: str) -> str:
    """A user's own group. One who does not exist yet gets one of the same name."""
    try:
        return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    except KeyError:
        return user


def _path(path: Path) -> str:
    return _legal(str(path.absolute()))


def _legal(text: str) -> str:
    if _ILLEGAL.search(text):
        raise ConfigError(
            f"{text!r} cannot stand in a unit file",
            "use a name without quotes, backslashes and control characters",
        )
    return text.replace("%", "%%")


def _quoted(word: str) -> str:
    return f'"{word}"' if re.search(r"[\s;]", word) or not word else word
