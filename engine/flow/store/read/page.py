"""A page of a list, and how many rows there are behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, TypeVar

from flow.store.connect import Conn

Item = TypeVar("Item")

COUNTED: Final = 10_000
"""Rows are counted up to here: counting a year of runs would cost more than the page."""


class Total(NamedTuple):
    """How many rows match. Not exact: at least so many."""

    counted: int
    exact: bool = True


class Page(NamedTuple, Generic[Item]):
    """The first rows of a list and the number of all of them."""

    rows: list[Item]
    total: Total


def page_of(rows: list[Item], limit: int | None, count: Callable[[], Total]) -> Page[Item]:
    """The page of rows that were read up to a limit; `count` is called where more may follow."""
    cut = limit is not None and len(rows) >= limit
    return Page(rows, count() if cut else Total(len(rows)))


def number(conn: Conn, statement: str, values: dict[str, Any] | None = None) -> int:
    """The number that a statement with one row, such as a count, gives; 0 without a row."""
    row = conn.execute(statement, values).fetchone()
    return int(row[0]) if row else 0


def total(counted: int) -> Total:
    """The total after counting up to one more than `COUNTED` rows."""
    return Total(min(counted, COUNTED), exact=counted <= COUNTED)
