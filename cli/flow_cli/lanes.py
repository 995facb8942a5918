"""Lanes: the edges of a graph, drawn beside a list of its nodes.

    ● extract
    ├─● load.ch
    ● │ load.de
    ●─╯ report

Each node has a line. What waits for it hangs on its *lane*, which goes down from the node in its
column until the last of them has been reached. A node stands at the lower end of a lane that it
ends, or in a column of its own; from other lanes it is reached sideways. What passes by crosses as
`│`, what joins as a corner or a tee. Above a node that is reached by nothing is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

NODE: Final = "●"
"""Where the node of a line stands; there is one in each."""
_PLAIN: Final = str.maketrans("●│├┤─╰╯┴┼", "*|||-'''#")


class Lanes(NamedTuple):
    """What stands left of each node, and left of something that is put in above it."""

    rows: list[str]
    above: list[str]

    @property
    def width(self) -> int:
        """Terminal columns."""
        return max(map(len, self.rows), default=0)


def lanes(order: Sequence[str], upstream: Mapping[str, Sequence[str]], widest: int) -> Lanes | None:
    """Draw the edges of nodes given with each one behind those that it waits for.

    None where they would be wider than `widest` terminal columns.
    """
    drawing = _Drawing(order, upstream)
    drawn = Lanes([], [])
    for node in order:
        drawn.above.append(drawing.passing())
        drawn.rows.append(drawing.draw(node))
        if len(drawn.rows[-1]) > widest:
            return None
    return drawn


def plain(row: str) -> str:
    """The same in ASCII."""
    return row.translate(_PLAIN)


class _Drawing:
    """The columns as they are between two lines."""

    def __init__(self, order: Sequence[str], upstream: Mapping[str, Sequence[str]]) -> None:
        self._upstream = upstream
        self._left = dict.fromkeys(order, 0)
        """How many nodes still hang on the lane of one."""
        for node in order:
            for above in upstream[node]:
                self._left[above] += 1
        self._columns: list[str | None] = []
        """Whose lane is in each column."""
        self._row: list[str] = []
        """The signs of the last line, by column."""

    def passing(self) -> str:
        """The lanes on a line without a node."""
        return " ".join("│" if owner else " " for owner in self._columns).rstrip()

    def draw(self, node: str) -> str:
        """The line of the next node."""
        above = set(self._upstream[node])
        reached = {at for at, owner in enumerate(self._columns) if owner in above}
        for at in reached:
            self._left[self._columns[at] or ""] -= 1
        ended = {at for at in reached if not self._left[self._columns[at] or ""]}
        own = min(ended) if ended else self._free(reached)
        row = [
            self._sign(at, own, reached, ended) for at in range(max(len(self._columns), own + 1))
        ]
        text = self._joined(row, min({own, *reached}), max({own, *reached}))
        for at in ended:
            self._columns[at] = None
        self._columns += [None] * (own + 1 - len(self._columns))
        self._columns[own] = node if self._left[node] else None
        while self._columns and self._columns[-1] is None:
            self._columns.pop()
        self._row = row
        return text

    def _free(self, reached: set[int]) -> int:
        """A column in which nothing stands just above; right of a lane that reaches it."""
        at = min(reached) + 1 if reached else 0
        while self._taken(at):
            at += 1
        return at

    def _taken(self, at: int) -> bool:
        lane = at < len(self._columns) and self._columns[at] is not None
        return lane or (at < len(self._row) and self._row[at] != " ")

    def _sign(self, at: int, own: int, reached: set[int], ended: set[int]) -> str:
        owner = self._columns[at] if at < len(self._columns) else None
        if at == own:
            return NODE
        if at not in reached:
            inside = min({own, *reached}) < at < max({own, *reached})
            return "│" if owner else "─" if inside else " "
        first, last = at == min({own, *reached}), at == max({own, *reached})
        if at in ended:
            return "╰" if first else "╯" if last else "┴"
        return "├" if first else "┤" if last else "┼"

    @staticmethod
    def _joined(row: Sequence[str], first: int, last: int) -> str:
        """The signs with what is between columns: a line where it goes sideways."""
        parts = [sign + ("─" if first <= at < last else " ") for at, sign in enumerate(row)]
        return "".join(parts).rstrip()
