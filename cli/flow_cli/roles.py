"""What the commands that start a role have in common."""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.config import Config
    from flow.process.environment import TaskUser
    from flow.roles.loop import Stop


def prepare(name: str) -> Stop:
    """Logging to stderr, signal handlers, and an end together with the supervisor, if any.

    Also forbids other processes of the same user to read this one's memory: it will hold the
    database login.
    """
    from flow.process import prctl
    from flow.roles.loop import Stop
    from flow.roles.up import FOLLOWS

    set_up_logging()
    prctl.forbid_dump()
    stop = Stop(drains=name in ("work", "up")).install()
    supervisor = os.environ.get(FOLLOWS)
    if supervisor is not None:
        prctl.die_with_parent(int(supervisor), signal.SIGTERM)
    logging.getLogger("flow").info("flow %s, pid %d", name, os.getpid())
    return stop


def set_up_logging() -> None:
    """One line an event on stderr; under systemd without times, which the journal adds."""
    journal = "JOURNAL_STREAM" in os.environ
    form = "%(levelname)s %(name)s: %(message)s"
    if not journal:
        form = "%(asctime)s " + form
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format=form)


def listen_dsn(config: Config, dsn: str) -> str:
    """The DSN for LISTEN: past a connection pooler, when one is configured."""
    return config.settings.database.direct_url or dsn


def task_user(name: str | None) -> TaskUser | None:
    """The user as whom tasks run. Raises `ConfigError` if this host does not know the name."""
    from flow.process.environment import TaskUser

    return TaskUser.named(name) if name else None
