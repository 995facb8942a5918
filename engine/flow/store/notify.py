"""NOTIFY and LISTEN: hints that make things sooner, never relied on.

A NOTIFY takes a database-wide lock until its transaction commits, so it goes out after the durable
commit, in a transaction of its own that does not wait for the disk, and at most once per
`COALESCE` seconds and channel in one process. It may travel with that commit in one round trip.
"""

from __future__ import annotations

import logging
import math
import time
from typing import Final, LiteralString

from psycopg import sql

from flow import faults
from flow.store.connect import Conn, LineStalled, connect

log = logging.getLogger(__name__)

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
SILENCE: Final = 20.0
"""Seconds without a notification after which who listens asks whether the line still works."""
ANSWER: Final = 5.0
"""Seconds that it waits for that."""

# The change counter moves with every notification, so that readers who poll it see it too.
_STATEMENTS: dict[str, LiteralString] = {
    WAKE: "begin; select set_config('synchronous_commit', 'off', true), "
    "nextval('change_counter'), pg_notify('flow_wake', ''); commit",
    QUEUED: "begin; select set_config('synchronous_commit', 'off', true), "
    "nextval('change_counter'), pg_notify('flow_queued', ''); commit",
    STOP: "begin; select set_config('synchronous_commit', 'off', true), "
    "nextval('change_counter'), pg_notify('flow_stop', ''); commit",
    PARSE: "begin; select set_config('synchronous_commit', 'off', true), "
    "nextval('change_counter'), pg_notify('flow_parse', ''); commit",
}


class Notifier:
    """Sends notifications on a connection that is between transactions.

    `coalesce` is the number of seconds between two of them on one channel.
    """

    def __init__(self, coalesce: float = COALESCE) -> None:
        self._coalesce = coalesce
        self._sent: dict[str, float] = {}
        self._owed: set[str] = set()

    def owe(self, channel: str) -> None:
        """Note that somebody has to be notified."""
        self._owed.add(channel)

    def send(self, conn: Conn, channel: str) -> None:
        """Notify now, or note the debt when the last one went out less than that ago."""
        self.owe(channel)
        self.pay(conn)

    def pay(self, conn: Conn) -> float | None:
        """Send what is owed and due; seconds until the next debt is due, None without debts."""
        for channel in self._take_due():
            faults.point(f"notify.{channel}.before_commit")
            conn.execute(_STATEMENTS[channel])
            faults.point(f"notify.{channel}.after_commit")
        return min(map(self._left, self._owed), default=None)

    def settle(self, *after: LiteralString) -> list[LiteralString]:
        """The statements of what is owed and due, for who sends them now: debts no more.

        `after` follows them.
        """
        return [*(_STATEMENTS[channel] for channel in self._take_due()), *after]

    def _take_due(self) -> list[str]:
        due = [channel for channel in self._owed if self._left(channel) <= 0]
        self._owed.difference_update(due)
        self._sent.update(dict.fromkeys(due, time.monotonic()))
        return due

    def _left(self, channel: str) -> float:
        """Seconds until this may be sent again."""
        return self._sent.get(channel, -math.inf) + self._coalesce - time.monotonic()


class Listener:
    """A connection that only listens, to be put into a selector.

    It runs in autocommit mode and never opens a transaction, so it holds no snapshot. Behind a
    connection pooler it hears nothing: LISTEN would stay with the server connection that happened
    to run it, and notify whoever uses that one next.
    """

    def __init__(self, dsn: str, channels: tuple[str, ...]) -> None:
        self._conn = connect(dsn, name="listen", patience=ANSWER)
        self._descriptor = self._conn.fileno()
        self._heard_at = time.monotonic()
        self._asked_at: float | None = None
        try:
            if _is_pooled(self._conn):
                log.info(
                    "notifications do not pass a connection pooler: looking every second instead"
                )
                return
            for channel in channels:
                self._conn.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
        except BaseException:
            self._conn.close()
            raise

    def fileno(self) -> int:
        """The socket, readable when a notification may have come; the same when it is cut.

        The connection itself would not tell any more, and a selector asks once again to forget it.
        """
        return self._descriptor

    def drain(self) -> set[str]:
        """Channels notified since the last call. Raises `psycopg.OperationalError` when cut."""
        channels = set()
        self._conn.pgconn.consume_input()
        self._heard_at = time.monotonic()
        if self._asked_at is not None and not self._conn.pgconn.is_busy():
            while self._conn.pgconn.get_result() is not None:
                pass
            self._asked_at = None
        while (found := self._conn.pgconn.notifies()) is not None:
            channels.add(found.relname.decode())
        return channels

    def ask(self) -> None:
        """Ask for a sign of life after a silence. Raises `LineStalled` when none has come.

        Who listens sends nothing, and would not learn that the other end is gone.
        """
        now = time.monotonic()
        if self._asked_at is not None:
            if now - self._asked_at >= ANSWER:
                raise LineStalled(f"no sign of life within {ANSWER:g} s")
        elif now - self._heard_at >= SILENCE:
            self._conn.pgconn.send_query(b"select 1")
            self._conn.pgconn.flush()
            self._asked_at = now

    def close(self) -> None:
        """Close the connection; closing twice is legal."""
        self._conn.close()


def _is_pooled(conn: Conn) -> bool:
    """Whether a pooler stands before the server: it makes up the process id that it tells."""
    return conn.execute("select pg_backend_pid()").fetchone() != (conn.info.backend_pid,)
