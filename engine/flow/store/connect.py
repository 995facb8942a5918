"""Connections and transactions. Nobody waits for an answer for ever.

A host that has lost its network, or a proxy that stands still, closes nothing: keepalives find the
one on a TCP line of our own, and only a limit on our side finds the other. So every connection has
a patience. The server ends a statement that takes longer; where not even that arrives, the
connection is given up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, LiteralString, TypeVar

import psycopg
from psycopg import ClientCursor, Connection, Cursor
from psycopg.abc import Params, PQGen
from psycopg.pq import TransactionStatus

from flow import faults
from flow.errors import DatabaseUnreachable

Row = tuple[Any, ...]
_Answer = TypeVar("_Answer")

STATEMENT_TIMEOUT = 60.0
"""Seconds a statement of a role may take."""
IDLE_TIMEOUT = 10.0
"""Seconds a transaction of a role may sit idle: a stopped scheduler must not hold runs for ever."""
FETCHED: Final = 1_000
"""Rows that are fetched at a time of those that somebody reads one by one."""
_ON_THE_WAY: Final = 5.0
"""Seconds by which an answer may be later than the server's own limit on its statement."""
_CONNECT_TIMEOUT: Final = 10
"""Seconds for each address of the server."""


class LineStalled(psycopg.OperationalError):
    """No answer came in time, and the line was not closed either: the connection is given up."""


OUTAGES: Final = (
    DatabaseUnreachable,
    psycopg.OperationalError,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
)
"""Errors after which a role connects anew and goes on: the server is away, restarts, has become a
standby, or has ended a session. The last two kinds are no `OperationalError` to the driver: a role
that was stopped within a transaction meets the third when it is continued."""

COLLISIONS: Final = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
    psycopg.errors.LockNotAvailable,
)
"""Outages that are none: the server has ended a transaction that stood in another one's way."""

TOO_LONG: Final = (psycopg.errors.QueryCanceled,)
"""Outages that are none: the server has ended a statement that took too long."""

_longest = math.inf
"""Seconds for which this process waits for any answer, whatever its connections say."""


def shorten_waits(seconds: float) -> None:
    """Let no connection of this process wait longer for an answer: it is to end.

    Holds for what is being waited for already.
    """
    global _longest
    _longest = min(_longest, seconds)


UNFIT_VALUES: Final = (psycopg.DataError, UnicodeError)
"""Errors about a value that no column can hold: a text with NUL or half of a surrogate pair, a
number that is too large. They say nothing of the database, and come from whoever chose the value.
"""


class Conn(Connection[Row]):
    """A connection that waits for each answer for so long and no longer.

    A begin travels with the first statement after it, and a statement whose answer nobody needs
    with the next one: that saves each transaction round trips, and who has a transaction of few
    statements feels it.
    """

    patience: float = STATEMENT_TIMEOUT
    """Seconds that a statement may take, unless its transaction says otherwise."""
    _ahead: tuple[str, ...] = ()
    """What goes before the next statement and has not been sent yet: a begin, statements."""

    def begin(self, *settings: str) -> None:
        """Begin a transaction with these settings, at the next statement."""
        self._ahead = ("begin", *settings)

    def later(self, query: LiteralString, params: Params) -> None:
        """Execute one statement with the next one or with the commit; at once if it is the first.

        What is wrong with its values shows here, everything else there.
        """
        if self._begun:
            self._ahead = (*self._ahead, ClientCursor(self).mogrify(query, params))
        else:
            self.execute(query, params)

    def one_by_one(self, query: LiteralString, params: Params) -> Iterator[Row]:
        """The rows of a statement, of which only some are in memory; within a transaction."""
        self.execute(f"declare one_by_one no scroll cursor for {query}", params)
        while rows := self.execute(f"fetch {FETCHED} from one_by_one").fetchall():
            yield from rows
        self.execute("close one_by_one")

    def end(self, how: str, *after: str) -> Cursor[Row] | None:
        """Commit or roll back, and do `after` when that is done, in one round trip.

        Returns a cursor at the rows of the last statement; None when there was none.
        """
        if how == "rollback" or not self._begun:
            self._ahead = ()
        if not (statements := ((how,) if self._begun else ()) + after):
            return None
        answers = self.execute("; ".join(statements))
        while answers.nextset():
            pass
        return answers

    @property
    def _begun(self) -> bool:
        return self.pgconn.transaction_status != TransactionStatus.IDLE

    def execute(self, query: Any, params: Params | None = None, **how: Any) -> Cursor[Row]:
        """Execute a statement; the cursor stands at its rows."""
        ahead = self._ahead
        if ahead:
            if params is not None:
                query, params = ClientCursor(self).mogrify(query, params), None
            text = query if isinstance(query, str) else query.as_string(self)
            query = "; ".join((*ahead, text))
            self._ahead = ()  # else none was sent: a value cannot be written
        answers = super().execute(query, params, **how)
        for _ in ahead:
            answers.nextset()
        return answers

    def wait(self, gen: PQGen[_Answer], *args: Any, **kwargs: Any) -> _Answer:
        """The driver's way to wait. Raises `LineStalled`, and the connection is closed then."""
        try:
            return super().wait(_in_time(gen, self._limit), *args, **kwargs)
        except LineStalled:
            self.close()
            raise

    def _limit(self) -> float:
        return min(self.patience + _ON_THE_WAY, _longest)


def _in_time(gen: PQGen[_Answer], limit: Callable[[], float]) -> PQGen[_Answer]:
    """What the driver waits for, ended by `LineStalled` when nothing has come for `limit` seconds.

    The driver asks from time to time when nothing comes; only then the clock is looked at.
    """
    began = time.monotonic()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() - began >= limit():
                raise LineStalled(f"no answer within {limit():g} s, and the line is still open")
            wanted = gen.send(ready)
    except StopIteration as over:
        answer: _Answer = over.value
        return answer


def connect(dsn: str, *, name: str, patience: float = STATEMENT_TIMEOUT) -> Conn:
    """Open a connection in autocommit mode, without server-side prepared statements (PgBouncer).

    Values travel as literals in the text of their statement. As parameters they took the server
    twice as long where a statement has many and runs briefly, and one statement a round trip.

    `name` appears in `pg_stat_activity`; `patience` is in seconds. Raises `DatabaseUnreachable`.
    """
    try:
        conn = Conn.connect(
            dsn,
            autocommit=True,
            prepare_threshold=None,
            cursor_factory=ClientCursor,
            application_name=f"flow {name}",
            connect_timeout=_CONNECT_TIMEOUT,
            keepalives=1,
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
            tcp_user_timeout=15_000,
        )
    except psycopg.OperationalError as error:
        raise DatabaseUnreachable(
            f"the database cannot be reached: {_why(error)}",
            "start it with `flow up`, or point FLOW_DATABASE_URL at a running PostgreSQL",
        ) from error
    conn.patience = patience
    return conn


def _why(error: psycopg.OperationalError) -> str:
    """The last thing that was tried, and failed; libpq adds questions below it, further right."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line[0].isspace()]
    return lines[-1].strip() if lines else "no answer"


@dataclass(slots=True)
class Answers:
    """What statements have answered that travel with the begin and the commit of a transaction."""

    first: Cursor[Row] | None = None
    last: Cursor[Row] | None = None

    @property
    def opening(self) -> Cursor[Row]:
        """At the rows of the first statement with the begin; `nextset` leads to the others."""
        assert self.first is not None, "no statement was to travel with the begin"
        return self.first

    @property
    def closing(self) -> Cursor[Row]:
        """When all is over, at the rows of the last statement after the commit."""
        assert self.last is not None, "no statement was to travel with the commit"
        return self.last


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
    statement_timeout: float | None = None,
    idle_timeout: float = IDLE_TIMEOUT,
) -> Iterator[Answers]:
    """One transaction of a role: local timeouts, fault points before and after its commit.

    `opening` are statements without parameters that travel with its begin, in one round trip.
    `closing` is asked at the end for statements that travel with the commit and are done after it.
    `durable=False` commits asynchronously: only heartbeats and notifications may.
    Timeouts are in seconds; without a `statement_timeout` the connection's patience is the limit.
    """
    patience = conn.patience
    conn.patience = patience if statement_timeout is None else statement_timeout
    settings = [
        f"set local statement_timeout = {int(conn.patience * 1000)}",
        f"set local idle_in_transaction_session_timeout = {int(idle_timeout * 1000)}",
    ]
    if not durable:
        settings.append("set local synchronous_commit = off")
    try:
        conn.begin(*settings)
        answers = Answers(conn.execute("; ".join(opening)) if opening else None)
        yield answers
        faults.point(f"{name}.before_commit")
        answers.last = conn.end("commit", *closing())
    except BaseException:
        if not conn.closed:
            try:
                conn.end("rollback")
            except psycopg.Error:
                conn.close()
        raise
    finally:
        conn.patience = patience
    faults.point(f"{name}.after_commit")


@contextmanager
def snapshot(
    conn: Conn,
    name: str,
    *,
    statement_timeout: float | None = None,
    idle_timeout: float = IDLE_TIMEOUT,
) -> Iterator[None]:
    """Several reads of one moment; nothing can be changed in it. Timeouts are in seconds."""
    with transaction(conn, name, statement_timeout=statement_timeout, idle_timeout=idle_timeout):
        conn.execute("set transaction isolation level repeatable read, read only")
        yield
