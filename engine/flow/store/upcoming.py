"""When which arrow of the scheduler has something to do."""

from __future__ import annotations

from typing import Final, NamedTuple

from psycopg import Cursor

from flow.store.connect import Conn, Row


class Upcoming(NamedTuple):
    """Seconds until something is due, by arrow: zero or less is due now, infinity is never.

    What another scheduler holds at the moment counts as due.
    """

    decide: float
    admit: float
    create: float


NOW: Final = Upcoming(0.0, 0.0, 0.0)
"""Nobody has looked yet."""

# One small statement for all arrows, so that none opens a transaction to find nothing. It travels
# with the end of each transaction. No locks.
LOOK: Final = "select decide, admit, make from due_in()"


def look(conn: Conn) -> Upcoming:
    """What is due, and when the rest will be."""
    return found(conn.execute(LOOK))


def found(answer: Cursor[Row]) -> Upcoming:
    """What `LOOK` has answered."""
    row = answer.fetchone()
    assert row is not None  # the function returns one row
    return Upcoming._make(row)
