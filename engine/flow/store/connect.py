"""Connections and transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import ClientCursor, Connection, Cursor
from psycopg.abc import Params
from psycopg.pq import TransactionStatus

from flow import faults
from flow.errors import DatabaseUnreachable

Row = tuple[Any, ...]


class Conn(Connection[Row]):
    """A connection on which a begin travels with the first statement after it, in one round trip.

    That saves each transaction a round trip; who has a transaction of few statements feels it.
    """

    _begin: tuple[str, ...] = ()
    """The statements of a begin that has not been sent yet."""

    def begin(self, *settings: str) -> None:
        """Begin a transaction with these settings, at the next statement."""
        self._begin = ("begin", *settings)

    def end(self, how: str, *after: str) -> None:
        """Commit or roll back, and do `after` when that is done, in one round trip."""
        self._begin = ()
        if statements := ((how,) if self._begun else ()) + after:
            self.execute("; ".join(statements))

    @property
    def _begun(self) -> bool:
        return self.pgconn.transaction_status != TransactionStatus.IDLE

    def execute(self, query: Any, params: Params | None = None, **how: Any) -> Cursor[Row]:
        """Execute a statement; the cursor stands at its rows."""
        begin = self._begin
        if begin:
            text = query if isinstance(query, str) else query.as_string(self)
            query = "; ".join((*begin, text))
        try:
            answers = super().execute(query, params, **how)
        finally:
            if self._begun:  # not by a statement with a value that cannot be written: none was sent
                self._begin = ()
        for _ in begin:
            answers.nextset()
        return answers


STATEMENT_TIMEOUT = 60.0
"""Seconds a statement of a role may take."""
IDLE_TIMEOUT = 10.0
"""Seconds a transaction of a role may sit idle: a stopped scheduler must not hold runs for ever."""

OUTAGES: Final = (
    DatabaseUnreachable,
    psycopg.OperationalError,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
)
"""Errors after which a role connects anew and goes on: the server is away, restarts, has become a
standby, or has ended a session. The last two kinds are no `OperationalError` to the driver: a role
that was stopped within a transaction meets the third when it is continued."""


UNFIT_VALUES: Final = (psycopg.DataError, UnicodeError)
"""Errors about a value that no column can hold: a text with NUL or half of a surrogate pair, a
number that is too large. They say nothing of the database, and come from whoever chose the value.
"""


def connect(dsn: str, *, name: str) -> Conn:
    """Open a connection in autocommit mode, without server-side prepared statements (PgBouncer).

    Values travel as literals in the text of their statement. As parameters they took the server
    twice as long where a statement has many and runs briefly, and one statement a round trip.

    `name` appears in `pg_stat_activity`. Raises `DatabaseUnreachable`.
    """
    try:
        return Conn.connect(
            dsn,
            autocommit=True,
            prepare_threshold=None,
            cursor_factory=ClientCursor,
            application_name=f"flow {name}",
            connect_timeout=10,
            keepalives=1,
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
            tcp_user_timeout=15_000,
        )
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else "no answer"
        raise DatabaseUnreachable(
            f"the database cannot be reached: {reason}",
            "start it with `flow up`, or point FLOW_DATABASE_URL at a running PostgreSQL",
        ) from error


def _nothing() -> Sequence[str]:
    return ()


@contextmanager
def transaction(
    conn: Conn,
    name: str,
    *,
    opening: Sequence[str] = (),
    closing: Callable[[], Sequence[str]] = _nothing,
    durable: bool = True,
    statement_timeout: float = STATEMENT_TIMEOUT,
    idle_timeout: float = IDLE_TIMEOUT,
) -> Iterator[Cursor[Row]]:
    """One transaction of a role: local timeouts, fault points before and after its commit.

    `opening` are statements without parameters that travel with its begin, in one round trip; it
    yields a cursor at the rows of the first of them, from which `nextset` leads to the others.
    `closing` is asked at the end for statements that travel with the commit and are done after it.
    `durable=False` commits asynchronously: only heartbeats and notifications may.
    Timeouts are in seconds.
    """
    settings = [
        f"set local statement_timeout = {int(statement_timeout * 1000)}",
        f"set local idle_in_transaction_session_timeout = {int(idle_timeout * 1000)}",
    ]
    if not durable:
        settings.append("set local synchronous_commit = off")
    try:
        conn.begin(*settings)
        yield conn.execute("; ".join(opening)) if opening else conn.cursor()
        faults.point(f"{name}.before_commit")
        conn.end("commit", *closing())
    except BaseException:
        if not conn.closed:
            try:
                conn.end("rollback")
            except psycopg.Error:
                conn.close()
        raise
    faults.point(f"{name}.after_commit")


@contextmanager
def snapshot(
    conn: Conn, name: str, *, statement_timeout: float = STATEMENT_TIMEOUT
) -> Iterator[None]:
    """Several reads of one moment; nothing can be changed in it. The timeout is in seconds."""
    with transaction(conn, name, statement_timeout=statement_timeout):
        conn.execute("set transaction isolation level repeatable read, read only")
        yield
