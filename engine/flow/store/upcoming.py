"""When which arrow of the scheduler has something to do."""

from __future__ import annotations

from typing import NamedTuple

from flow.store.connect import Conn


class Upcoming(NamedTuple):
    """Seconds until something is due, by arrow: zero or less is due now, infinity is never.

    What another scheduler holds at the moment counts as due.
    """

    decide: float
    admit: float
    create: float


# One small statement for all arrows, so that none opens a transaction to find nothing. No locks.
_DUE_IN = "select decide, admit, make from due_in()"


def look(conn: Conn) -> Upcoming:
    """What is due, and when the rest will be."""
    row = conn.execute(_DUE_IN).fetchone()
    assert row is not None  # the function returns one row
    return Upcoming._make(row)
