"""NOTIFY and LISTEN: hints that make things sooner, never relied on.

A NOTIFY takes a database-wide lock until its transaction commits, so it goes out after the durable
commit, in a transaction of its own that does not wait for the disk, and at most once per
`COALESCE` seconds and channel in one process.
"""

from __future__ import annotations

import time
from typing import Final, LiteralString

from psycopg import sql

from flow import faults
from flow.store.connect import Conn, connect

WAKE: Final = "flow_wake"
"""Schedulers: a wake-up was appended, or a DAG became due."""
QUEUED: Final = "flow_queued"
"""Workers: tasks were queued."""
STOP: Final = "flow_stop"
"""Workers: a claim no longer counts."""
PARSE: Final = "flow_parse"
"""DAG processors: look at the files again."""

COALESCE: Final = 0.004
"""Seconds. Less than any hop from task to task takes: in a chain nothing is ever kept waiting."""

# The change counter moves with every notification, so that readers who poll it see it too.
_STATEMENTS: dict[str, LiteralString] = {
    WAKE: "begin; set local synchronous_commit = off; "
    "select nextval('change_counter'); notify flow_wake; commit",
    QUEUED: "begin; set local synchronous_commit = off; "
    "select nextval('change_counter'); notify flow_queued; commit",
    STOP: "begin; set local synchronous_commit = off; "
    "select nextval('change_counter'); notify flow_stop; commit",
    PARSE: "begin; set local synchronous_commit = off; "
    "select nextval('change_counter'); notify flow_parse; commit",
}


class Notifier:
    """Sends notifications on a connection that is between transactions.

    `coalesce` is the number of seconds between two of them on one channel.
    """

    def __init__(self, coalesce: float = COALESCE) -> None:
        self._coalesce = coalesce
        self._sent: dict[str, float] = {}
        self._owed: set[str] = set()

    def send(self, conn: Conn, channel: str) -> None:
        """Notify now, or note the debt when the last one went out less than that ago."""
        now = time.monotonic()
        if now - self._sent.get(channel, 0.0) < self._coalesce:
            self._owed.add(channel)
            return
        self._owed.discard(channel)
        self._sent[channel] = now
        faults.point(f"notify.{channel}.before_commit")
        conn.execute(_STATEMENTS[channel])
        faults.point(f"notify.{channel}.after_commit")

    def pay(self, conn: Conn) -> float | None:
        """Send what is owed and due; seconds until the next debt is due, None without debts."""
        wait = None
        for channel in tuple(self._owed):
            left = self._sent[channel] + self._coalesce - time.monotonic()
            if left <= 0:
                self.send(conn, channel)
            else:
                wait = left if wait is None else min(wait, left)
        return wait


class Listener:
    """A connection that only listens, to be put into a selector.

    It runs in autocommit mode and never opens a transaction, so it holds no snapshot.
    """

    def __init__(self, dsn: str, channels: tuple[str, ...]) -> None:
        self._conn = connect(dsn, name="listen")
        self._descriptor = self._conn.fileno()
        for channel in channels:
            self._conn.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))

    def fileno(self) -> int:
        """The socket, readable when a notification may have come; the same when it is cut.

        The connection itself would not tell any more, and a selector asks once again to forget it.
        """
        return self._descriptor

    def drain(self) -> set[str]:
        """Channels notified since the last call. Raises `psycopg.OperationalError` when cut."""
        channels = set()
        self._conn.pgconn.consume_input()
        while (found := self._conn.pgconn.notifies()) is not None:
            channels.add(found.relname.decode())
        return channels

    def close(self) -> None:
        """Close the connection; closing twice is legal."""
        self._conn.close()
