"""The columns of a table, and how they share its width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from flow.wording.cells import width_of
from flow_tui.widgets.fitting import Cell

Row = TypeVar("Row")
GAP: Final = 2
"""Columns of the terminal between two columns of the table."""
_LEAST: Final = 8
"""Columns of the terminal below which no column is shortened."""


class Column(NamedTuple, Generic[Row]):
    """One column. `cell` makes what is shown of a row.

    `rank`: where there is no room, columns with the highest rank go first; those of rank 0 stay and
    are shortened in their middle. `widest`: terminal columns that it takes at most. `sort` is what
    rows are ordered by; None: by the text. Not `ordered`: rows cannot be ordered by it. `prose` is
    shortened at its end. `enough`: terminal columns that it makes do with before others are left
    out; None: what its texts take.
    """

    heading: str
    cell: Callable[[Row], Cell]
    rank: int = 0
    right: bool = False
    widest: int = 60
    sort: Callable[[Row], Any] | None = None
    ordered: bool = True
    prose: bool = False
    enough: int | None = None


def shared_out(
    columns: Sequence[Column[Any]], texts: Sequence[Sequence[str]], room: int
) -> list[tuple[int, int]]:
    """Which columns are shown in `room`, by their place, and how wide each of them is.

    `texts` are those of each column. Columns that find no room are left out.
    """
    wanted = [
        min(column.widest, max(map(width_of, [column.heading, *of_column])))
        for column, of_column in zip(columns, texts, strict=True)
    ]
    least = [
        min(width, column.enough or width) for width, column in zip(wanted, columns, strict=True)
    ]
    shown = list(range(len(columns)))
    while len(shown) > 1 and _total(least[at] for at in shown) > room:
        last = max(shown, key=lambda at: (columns[at].rank, at))
        if columns[last].rank == 0:
            break
        shown.remove(last)
    # Only columns that stay are left: those that make do with less give, then the widest ones.
    for _ in range(_total(wanted[at] for at in shown) - room):
        widest = max(shown, key=lambda at: (wanted[at] > least[at], wanted[at]))
        wanted[widest] = max(_LEAST, wanted[widest] - 1)
    return [(at, wanted[at]) for at in shown]


def _total(widths: Iterable[int]) -> int:
    sizes = list(widths)
    return sum(sizes) + GAP * (len(sizes) - 1)
