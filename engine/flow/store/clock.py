"""The database's time: the one that counts where two processes compare times."""

from __future__ import annotations

from datetime import UTC, datetime

from flow.store.connect import Conn

_NOW = "select clock_timestamp()"


def now(conn: Conn) -> datetime:
    """Database time with microseconds, in UTC; it moves on within a transaction."""
    row = conn.execute(_NOW).fetchone()
    assert row is not None  # a select without a from clause has one row
    moment: datetime = row[0]
    return moment.astimezone(UTC)
