"""Whether anything changed: what readers who wait look at between two looks at what they wait for.

Readers poll; only roles listen.
"""

from __future__ import annotations

from flow.store.connect import Conn
from flow.store.read.page import number

_COUNTER = "select last_value from change_counter"


def counter(conn: Conn) -> int:
    """A number that moves after a batch has committed."""
    return number(conn, _COUNTER)
