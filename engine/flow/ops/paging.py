"""All rows of a list, read a page at a time, so that a long one takes no more memory than a page.

Each page is a transaction of its own: a reader who looks at one for an hour keeps no snapshot open,
and a pooler may give each to another session. So the rows of a page are of one moment, those of two
pages are not; the place where a list goes on never moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from flow.ops.deployment import Deployment

Item = TypeVar("Item")

PAGE: Final = 1_000
"""Rows of one page."""


def in_pages(
    deployment: Deployment, read: Callable[[Item | None, int], list[Item]]
) -> Iterator[Item]:
    """Every row of a list. `read` gets the last row so far, None at first, and a number of rows."""
    last: Item | None = None
    while True:
        with deployment.snapshot():
            rows = read(last, PAGE)
        yield from rows
        if len(rows) < PAGE:
            return
        last = rows[-1]
