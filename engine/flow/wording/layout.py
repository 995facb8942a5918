"""Where the text of a table goes: aligned columns, or one block for each row.

Pure functions of texts and a width. Tables never cut: an id that is missing its end is no id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from flow.wording.cells import width_of

T = TypeVar("T")

GAP = "  "
READABLE_WIDTH = 16  # a column folded to less than this can no longer be read


class Cells(NamedTuple):
    """A table as texts.

    For each column: whether it is aligned to the right, whether it may be left out on a narrow
    terminal, and whether it is better not folded, as a time. Empty: none.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[bool]
    spare: Sequence[bool] = ()
    firm: Sequence[bool] = ()


def widths(cells: Cells) -> list[int]:
    """The width of each column when nothing is folded."""
    columns = zip(cells.headings, *cells.rows, strict=True)
    return [max(width_of(text) for text in column) for column in columns]


def fits(cells: Cells, width: int) -> bool:
    """Whether the columns stay readable side by side, long ones folded."""
    least = sum(min(column, READABLE_WIDTH) for column in widths(cells))
    return least + len(GAP) * (len(cells.headings) - 1) <= width


def firm_widths(cells: Cells, width: int) -> list[int | None]:
    """The width that each column keeps: that of firm ones, if the others stay readable then."""
    natural = widths(cells)
    firm = cells.firm or [False] * len(natural)
    kept = [column if is_firm else None for column, is_firm in zip(natural, firm, strict=True)]
    least = sum(
        keeps or min(column, READABLE_WIDTH) for column, keeps in zip(natural, kept, strict=True)
    )
    enough = least + len(GAP) * (len(natural) - 1) <= width
    return kept if enough else [None] * len(natural)


def without_spares(cells: Cells, width: int) -> tuple[Cells, list[str]]:
    """The table without spare columns, the last one first, as far as that keeps it from being
    folded; and the headings of what was left out."""
    left_out: list[str] = []
    while any(cells.spare) and sum(widths(cells)) + len(GAP) * (len(cells.right) - 1) > width:
        last = max(at for at, spare in enumerate(cells.spare) if spare)
        left_out.insert(0, cells.headings[last])
        cells = Cells(
            _without(cells.headings, last),
            [_without(row, last) for row in cells.rows],
            _without(cells.right, last),
            _without(cells.spare, last),
            _without(cells.firm, last),
        )
    return cells, left_out


def _without(items: Sequence[T], at: int) -> list[T]:
    return [*items[:at], *items[at + 1 :]]


def aligned(cells: Cells) -> list[str]:
    """Lines of aligned columns, as wide as their texts."""
    column_widths = widths(cells)
    lines = []
    for row in (cells.headings, *cells.rows):
        texts = [
            padded(text, column_width, right)
            for text, column_width, right in zip(row, column_widths, cells.right, strict=True)
        ]
        lines.append(GAP.join(texts).rstrip())
    return lines


def blocks(cells: Cells) -> list[str]:
    """Lines of one block for each row, a field a line, blocks separated by an empty line."""
    name_width = max((width_of(heading) for heading in cells.headings), default=0)
    lines: list[str] = []
    for row in cells.rows:
        if lines:
            lines.append("")
        lines += [
            f"{padded(heading, name_width, False)}{GAP}{text}"
            for heading, text in zip(cells.headings, row, strict=True)
        ]
    return lines


def padded(text: str, width: int, right: bool = False) -> str:
    """The text with spaces up to a width in terminal columns; never cut."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def shortened(text: str, width: int, *, symbols: bool) -> str:
    """A text of at most `width` columns: where it is too long, without its middle.

    Ids mostly differ at their ends. Only for terminals, where somebody looks at it.
    """
    if width_of(text) <= width:
        return text
    gap = "…" if symbols else "~"
    kept = max(2, width - 1)
    while kept > 2 and width_of(_without_middle(text, kept, gap)) > width:
        kept -= 1  # some of its characters take two columns
    return _without_middle(text, kept, gap)


def _without_middle(text: str, kept: int, gap: str) -> str:
    tail = kept // 2
    return text[: kept - tail] + gap + text[-tail:]
