"""The demo's warehouse: a second database, whose role has no rights on Flow's.

It is reached by its password on the same socket. The only SQL here is about the shop's tables.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from flow.authoring.connection import Connection
from flow.embedded import Server
from flow.ops.demo.project import Totals

NAME: Final = "warehouse"
"""The name of the database, of its role, and of the connection."""

_ORDERS: Final = """
select day::text, count(*), sum(amount_cents)::bigint from orders group by day
"""
_REPORTED: Final = "select day::text, orders, revenue_cents from daily_report"
# Not a row of the day: it is never committed. Whoever inserts the same key waits for its end.
_HOLD: Final = "insert into orders values (%(day)s, %(number)s, '', 0, 0)"
# Not from pg_stat_activity: within a transaction that shows what it showed first.
_WAITING: Final = """
select exists (
  select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))
)
"""


class Warehouse(NamedTuple):
    """The login to the warehouse."""

    dsn: str
    password: str

    def connection(self) -> Connection:
        """The connection under which tasks find it."""
        parts = {key: str(value) for key, value in conninfo_to_dict(self.dsn).items()}
        return Connection(
            conn_id=NAME,
            conn_type="postgres",
            host=parts["host"],
            port=int(parts["port"]),
            schema=parts["dbname"],
            login=parts["user"],
            password=self.password,
            description="The shop's warehouse.",
        )

    def loaded(self) -> dict[str, Totals]:
        """By day: what its orders add up to."""
        return self._totals(_ORDERS)

    def reported(self) -> dict[str, Totals]:
        """By day: what the pipeline wrote into its report."""
        return self._totals(_REPORTED)

    @contextmanager
    def hold_up(self, day: str, number: int) -> Iterator[Hold]:
        """Let whoever loads the order `number` of `day` wait at it, until the end or `release`.

        So does any colleague with an open transaction on that row; the load knows nothing of it.
        """
        with self._login() as conn:
            conn.execute(_HOLD, {"day": day, "number": number})
            try:
                yield Hold(conn)
            finally:
                conn.rollback()

    def _totals(self, query: Any) -> dict[str, Totals]:
        with self._login() as conn:
            return {day: Totals(*totals) for day, *totals in conn.execute(query)}

    def _login(self) -> psycopg.Connection[Any]:
        return psycopg.connect(make_conninfo(self.dsn, password=self.password))


class Hold(NamedTuple):
    """An open transaction that somebody may be waiting for."""

    conn: psycopg.Connection[Any]

    def somebody_waits(self) -> bool:
        """Whether a session of the warehouse has come as far as the row that is held."""
        row = self.conn.execute(_WAITING).fetchone()
        return bool(row and row[0])

    def release(self) -> None:
        """Let whoever waits go on."""
        self.conn.rollback()


def make(server: Server, schema: str) -> Warehouse:
    """Make the database with its tables, and a password for its role."""
    password = secrets.token_urlsafe(24)
    made = Warehouse(server.create_database(NAME, NAME, password), password)
    with made._login() as conn:
        conn.execute(schema.encode())
    return made
