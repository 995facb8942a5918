"""Somebody who works on the database and stops before every statement until he is told to go on.

So a test decides between which two statements of one transaction those of another one come, and
where a line breaks: before a statement, or after it with its answer lost.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any, LiteralString

import psycopg
from psycopg import ClientCursor, Cursor
from psycopg.abc import Params

from flow.store.connect import Conn, Row
from waiting import PATIENCE

_TIMEOUT = re.compile(r"(idle_in_transaction_session_timeout =) \d+")


class Order(Enum):
    """What somebody who stands before a statement is to do."""

    GO = "go"
    CUT = "cut"
    """The line breaks before the statement is sent."""
    LOSE = "lose"
    """The statement is carried out, and the line breaks before its answer arrives."""


class Where(Enum):
    """Where somebody is."""

    IDLE = "idle"
    BEFORE = "before a statement"
    WITHIN = "within a statement"


class _Line(Conn):
    """A connection that asks before each statement.

    Notifications, by themselves or with a commit, are none: nobody waits for them.
    """

    actor: Actor

    def begin(self, *settings: str) -> None:
        # Whoever stands still within a transaction does so because the test wants it.
        super().begin(*(_TIMEOUT.sub(r"\1 0", setting) for setting in settings))

    def later(self, query: LiteralString, params: Params) -> None:
        # Others may come between any two statements, also where these travel together.
        self.execute(query, params)

    def execute(self, query: Any, params: Params | None = None, **how: Any) -> Cursor[Row]:
        statement = "commit" if query.startswith("commit") else query
        if self.closed or "pg_notify(" in statement:
            return super().execute(query, params, **how)
        order = self.actor.stop_before(statement)
        if order is Order.CUT:
            raise self.broken()
        answer = super().execute(query, params, **how)
        if order is Order.LOSE:
            raise self.broken()
        return answer

    def broken(self) -> psycopg.OperationalError:
        self.close()
        return psycopg.OperationalError("the line is broken")


class Actor:
    """A thread with a connection of its own, which moves only when a test lets it."""

    def __init__(self, name: str, dsn: str, observer: Conn) -> None:
        self.name = name
        self.where = Where.IDLE
        self.statement = ""
        """The one that it stands before, or that it is within."""
        self.error: BaseException | None = None
        """With what its last work ended."""
        self._dsn = dsn
        self._observer = observer
        self._order = Order.GO
        self._moved = threading.Condition()
        self._thread: threading.Thread | None = None
        self.conn = self._connect()

    def _connect(self) -> _Line:
        line = _Line.connect(
            self._dsn,
            autocommit=True,
            prepare_threshold=None,
            cursor_factory=ClientCursor,
            application_name=self.name,
        )
        line.actor = self
        self._backend = line.info.backend_pid
        return line

    # ── in the test's thread ─────────────────────────────────────────────────────────────────────

    def begin(self, work: Callable[[Conn], object]) -> None:
        """Begin some work, and go as far as its first statement."""
        assert self.where is Where.IDLE
        if self.conn.closed:
            self.conn = self._connect()
        self.error = None
        self.where = Where.WITHIN
        self._thread = threading.Thread(target=self._run, args=(work,), name=self.name, daemon=True)
        self._thread.start()
        self.settle()

    def step(self, order: Order = Order.GO) -> str:
        """Let one statement through; which it was. It may be within it afterwards, on a lock."""
        assert self.where is Where.BEFORE
        statement = self.statement
        with self._moved:
            self._order = order
            self.where = Where.WITHIN
            self._moved.notify_all()
        self.settle()
        if order is not Order.GO and self.conn.closed:
            self._end_backend()
        return statement

    def settle(self) -> None:
        """Wait until it stands before a statement, has ended, or waits for another one's lock."""
        for _ in range(int(PATIENCE * 3_000)):
            with self._moved:
                if self._moved.wait_for(lambda: self.where is not Where.WITHIN, timeout=0.01):
                    return
            if self._waits():
                return
        raise AssertionError(f"{self.name} hangs in {self.statement}")

    def _waits(self) -> bool:
        [blockers] = self._observer.execute(
            "select pg_blocking_pids(%s)", (self._backend,)
        ).fetchone() or [[]]
        return bool(blockers)

    def abandon(self) -> None:
        """Break its line if it has anything left to do, so that it is idle."""
        if self.where is not Where.IDLE:
            self._end_backend()
            self.conn.close()
            while self.where is not Where.IDLE:
                if self.where is Where.BEFORE:
                    self.step(Order.CUT)
                self.settle()

    def close(self) -> None:
        self.abandon()
        self.conn.close()

    def _end_backend(self) -> None:
        """Its locks are free when its backend has noticed."""
        self._observer.execute("select pg_terminate_backend(%s, 10000)", (self._backend,))

    # ── in its own thread ────────────────────────────────────────────────────────────────────────

    def _run(self, work: Callable[[Conn], object]) -> None:
        try:
            work(self.conn)
        except BaseException as error:  # for the test to judge
            self.error = error
        with self._moved:
            self.where = Where.IDLE
            self._moved.notify_all()

    def stop_before(self, statement: str) -> Order:
        """Wait for the test's order."""
        with self._moved:
            self.statement = statement
            self.where = Where.BEFORE
            self._moved.notify_all()
            self._moved.wait_for(lambda: self.where is Where.WITHIN)
            return self._order
