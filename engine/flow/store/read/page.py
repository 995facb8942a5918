"""A page of a list, and how many rows there are behind it."""

from __future__ import annotations

from typing import Final, Generic, NamedTuple, TypeVar

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


def total(counted: int) -> Total:
    """The total after counting up to one more than `COUNTED` rows."""
    return Total(min(counted, COUNTED), exact=counted <= COUNTED)
