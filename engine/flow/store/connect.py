"""Connections and transactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import Connection, Cursor

from flow import faults
from flow.errors import DatabaseUnreachable

Row = tuple[Any, ...]
Conn = Connection[Row]

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

    `name` appears in `pg_stat_activity`. Raises `DatabaseUnreachable`.
    """
    try:
        return psycopg.connect(
            dsn,
            autocommit=True,
            prepare_threshold=None,
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


@contextmanager
def transaction(
    conn: Conn,
    name: str,
    *,
    opening: Sequence[str] = (),
    durable: bool = True,
    statement_timeout: float = STATEMENT_TIMEOUT,
    idle_timeout: float = IDLE_TIMEOUT,
) -> Iterator[Cursor[Row]]:
    """One transaction of a role: local timeouts, fault points before and after its commit.

    `opening` are statements without parameters that travel with its begin, in one round trip; it
    yields a cursor at the rows of the first of them, from which `nextset` leads to the others.
    `durable=False` commits asynchronously: only heartbeats and notifications may.
    Timeouts are in seconds.
    """
    settings = [
        "begin",
        f"set local statement_timeout = {int(statement_timeout * 1000)}",
        f"set local idle_in_transaction_session_timeout = {int(idle_timeout * 1000)}",
    ]
    if not durable:
        settings.append("set local synchronous_commit = off")
    try:
        answers = conn.execute("; ".join([*settings, *opening]))
        if opening:
            for _ in settings:
                answers.nextset()
        yield answers
        faults.point(f"{name}.before_commit")
        conn.execute("commit")
    except BaseException:
        if not conn.closed:
            try:
                conn.execute("rollback")
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
