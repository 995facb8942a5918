"""Where a deployment's database is: the configured URL, else the embedded server's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from flow.errors import DatabaseError, DatabaseUnreachable

if TYPE_CHECKING:
    from flow.embedded import Server
    from flow.settings import Settings


def dsn(settings: Settings, on_start: Callable[[], None] | None = None) -> str:
    """The DSN of an existing database; an embedded one is started when it is down.

    `on_start` is called when that was necessary. Raises `DatabaseError` when there is none yet.
    """
    if settings.database.url:
        return settings.database.url
    server = embedded(settings)
    if not (server.data / "PG_VERSION").exists():
        raise DatabaseError(
            f"there is no database yet: neither database.url is set nor is there one in "
            f"{settings.home}",
            "make one with `flow db migrate` or `flow up`, or set FLOW_DATABASE_URL",
        )
    return server.start(on_start)


def revive(settings: Settings) -> None:
    """Start an embedded server that has died; for a role that is about to connect again.

    Waits until it has recovered. Raises `DatabaseUnreachable` when it does not come up.
    """
    if settings.database.url:
        return
    try:
        embedded(settings).start()
    except DatabaseError as error:
        raise DatabaseUnreachable(error.message, error.hint) from error


def direct_dsn(settings: Settings) -> str:
    """The DSN that goes past a connection pooler; an embedded database is made when missing."""
    return settings.database.direct_url or settings.database.url or embedded(settings).start()


def embedded(settings: Settings) -> Server:
    """The embedded server of this deployment, running or not."""
    from flow.embedded import Server

    return Server(settings.home, binaries=settings.database.binaries)
