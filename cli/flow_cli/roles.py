"""What the commands that start a role have in common."""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

from flow_cli.journal import JournalFormatter, is_journal

if TYPE_CHECKING:
    from flow.config import Config
    from flow.process.environment import TaskUser
    from flow.roles.loop import Stop
    from flow.roles.service_manager import ServiceManager

_FORM = "%(levelname)s %(name)s: %(message)s"


def prepare(name: str) -> Stop:
    """Logging to stderr, signal handlers, and an end together with the supervisor, if any.

    Where a service manager's watchdog aborts the process, it first tells where it hung.

    Also forbids other processes of the same user to read this one's memory: it will hold the
    database login.
    """
    from flow.process import prctl
    from flow.roles.loop import Stop
    from flow.roles.up import FOLLOWS

    set_up_logging()
    faulthandler.enable()
    prctl.forbid_dump()
    stop = Stop(drains=name in ("work", "up")).install()
    supervisor = os.environ.get(FOLLOWS)
    if supervisor is not None:
        prctl.die_with_parent(int(supervisor), signal.SIGTERM)
    logging.getLogger("flow").info("flow %s, pid %d", name, os.getpid())
    return stop


def set_up_logging() -> None:
    """One line an event on stderr, in the journal's own form where it goes there."""
    handler = logging.StreamHandler(sys.stderr)
    if is_journal(sys.stderr.fileno(), os.environ):
        handler.setFormatter(JournalFormatter(_FORM))
    else:
        handler.setFormatter(logging.Formatter(f"%(asctime)s {_FORM}"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def service_manager() -> ServiceManager:
    """The service manager of this process. What runs below `flow up` is no service of its own."""
    from flow.roles.service_manager import NOBODY, ServiceManager
    from flow.roles.up import FOLLOWS

    return NOBODY if FOLLOWS in os.environ else ServiceManager(os.environ)


def listen_dsn(config: Config, dsn: str) -> str:
    """The DSN for LISTEN: past a connection pooler, when one is configured."""
    return config.settings.database.direct_url or dsn


def task_user(name: str | None) -> TaskUser | None:
    """The user as whom tasks run. Raises `ConfigError` if this host does not know the name."""
    from flow.process.environment import TaskUser

    return TaskUser.named(name) if name else None
