"""The deployment a verb acts on: its settings and one connection to its database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psycopg

from flow.errors import DatabaseError, UsageError
from flow.ops.broken_files import blamed
from flow.store import audit, locate, migrate
from flow.store.audit import Entry, Facts
from flow.store.connect import (
    IDLE_TIMEOUT,
    OUTAGES,
    STATEMENT_TIMEOUT,
    TOO_LONG,
    UNFIT_VALUES,
    Conn,
    connect,
    snapshot,
    transaction,
)
from flow.store.notify import Notifier

if TYPE_CHECKING:
    from flow.settings import Settings


@dataclass(slots=True)
class Change:
    """What one operation did: its audit entries, and whom to tell after the commit."""

    verb: str
    entries: list[Entry] = field(default_factory=list)
    channels: list[str] = field(default_factory=list)

    def log(self, target: str, before: Facts | None = None, after: Facts | None = None) -> None:
        """Write an audit entry with the change; never with a secret."""
        self.entries.append(Entry(self.verb, target, before, after))

    def tell(self, channel: str) -> None:
        """Notify a channel of `flow.store.notify` once the change is committed."""
        if channel not in self.channels:
            self.channels.append(channel)


@dataclass(slots=True)
class Deployment:
    """An open deployment."""

    settings: Settings
    conn: Conn

    @contextmanager
    def change(self, verb: str) -> Iterator[Change]:
        """The one transaction of an operation, with its audit entries; notifies afterwards."""
        change = Change(verb)
        with blamed(self.conn), transaction(self.conn, f"ops.{verb}"):
            yield change
            audit.record(self.conn, change.entries)
        notifier = Notifier()
        for channel in change.channels:
            try:
                notifier.send(self.conn, channel)
            except psycopg.OperationalError:
                return  # the change is committed, and everybody polls anyway

    @contextmanager
    def snapshot(
        self, statement_timeout: float | None = None, idle_timeout: float = IDLE_TIMEOUT
    ) -> Iterator[None]:
        """Several reads of one moment. Nothing can be changed in it.

        Timeouts are in seconds; that of statements is the connection's patience by default.
        """
        with (
            blamed(self.conn),
            snapshot(
                self.conn,
                "ops.read",
                statement_timeout=statement_timeout,
                idle_timeout=idle_timeout,
            ),
        ):
            yield


@contextmanager
def open_deployment(
    settings: Settings,
    *,
    patience: float | None = None,
    on_start: Callable[[], None] | None = None,
) -> Iterator[Deployment]:
    """Connect to a deployment whose schema fits this version of Flow.

    `patience`: seconds that a statement may take, if not the usual ones. `on_start` is called when
    an embedded database was down and had to be started. Raises `DatabaseError`
    when the database cannot be reached, is not migrated, or goes away, and `UsageError` for a value
    that it cannot keep.
    """
    conn = connect(
        locate.dsn(settings, on_start), name="command", patience=patience or STATEMENT_TIMEOUT
    )
    try:
        migrate.require(conn)
        yield Deployment(settings, conn)
    except psycopg.Error as error:
        told = refusal(error)
        if told is None:
            raise
        raise told from error
    finally:
        conn.close()


def refusal(error: BaseException | None) -> DatabaseError | UsageError | None:
    """What to tell of an error of the driver; None: it is no fault of database or values."""
    reason = str(error).strip().partition("\n")[0]
    if isinstance(error, TOO_LONG):
        return DatabaseError(
            "the database took too long to answer", "try again, or see what it does: flow status"
        )
    if isinstance(error, OUTAGES):
        return DatabaseError(
            f"the database went away: {reason or 'the connection was lost'}", "try again"
        )
    if isinstance(error, UNFIT_VALUES):
        return UsageError(f"the database cannot keep a value: {reason}", "write another one")
    return None


def is_up(settings: Settings) -> bool:
    """Whether there is a database to ask without starting one: any but an embedded one may be."""
    return bool(settings.database.url) or locate.embedded(settings).running()
