"""What stands above the cells of a grid: how long its runs took, their dates, who made them, where
another version begins, and how they ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from rich.style import Style

from flow.store.read.grid import GridRun
from flow.wording.bars import HEIGHT, bars
from flow.wording.grid import date_parts, longest, seconds, types, versions
from flow_tui.grid.columns import Columns

Sign = Callable[[str], tuple[str, Style]]
"""The sign of a state and its style."""


class Piece(NamedTuple):
    """What stands above a column. `whole` is shown at the cursor, where `text` may be left out."""

    text: str
    style: Style
    whole: str


class HeadingLine(NamedTuple):
    """One line: what stands beside it, and above each column."""

    name: str
    cells: list[Piece]
    names_run: bool = False
    """By this line above all runs are told apart."""


class Heading:
    """The lines above the columns of a grid as they are now: always the same number of them,
    whichever columns are shown."""

    def __init__(
        self,
        columns: Columns,
        *,
        sign: Sign,
        quiet: Callable[[Style], Style],
        plain: Style,
        accent: Style,
        symbols: bool,
        with_bars: bool,
    ) -> None:
        self._runs = [column.run for column in columns.columns]
        zone = ZoneInfo(columns.timezone)
        self._dates = [run.logical_date.astimezone(zone) for run in self._runs]
        self._parts = date_parts(self._dates)
        self._has_types = any(types(self._runs))
        self._has_versions = len({run.version for run in self._runs}) > 1
        self._sign = sign
        self._quiet = quiet
        self._plain = plain
        self._accent = accent
        self._symbols = symbols
        self._with_bars = with_bars

    @property
    def height(self) -> int:
        """How many lines there are."""
        bars_ = HEIGHT if self._with_bars else 0
        return bars_ + len(self._parts) + self._has_types + self._has_versions + 1

    def lines(self, first: int, count: int) -> list[HeadingLine]:
        """The lines above `count` columns from `first` on."""
        runs = self._runs[first : first + count]
        lines = list(self._durations(runs)) if self._with_bars else []
        lines += self._dated(first, count)
        if self._has_types:
            lines.append(self._texts("type", types(runs), self._plain))
        if self._has_versions:
            before = self._runs[first - 1].version if first else None
            lines.append(self._texts("version", versions(runs, before), self._accent))
        states = [self._sign(run.state) for run in runs]
        return [*lines, HeadingLine("run", [Piece(sign, style, sign) for sign, style in states])]

    def _durations(self, runs: Sequence[GridRun]) -> Iterator[HeadingLine]:
        """Bars of the runs that have ended, the longest one's duration beside its top."""
        drawn = bars([seconds(run) for run in runs], symbols=self._symbols)
        styles = [self._quiet(self._sign(run.state)[1]) for run in runs]
        for name, signs in zip([longest(runs), *[""] * (HEIGHT - 1)], drawn, strict=True):
            pieces = zip(signs, styles, strict=True)
            yield HeadingLine(name, [Piece(sign, style, sign) for sign, style in pieces])

    def _dated(self, first: int, count: int) -> Iterator[HeadingLine]:
        """Parts of the dates, coarsest first; what has not changed is not said again."""
        dates = self._dates[first : first + count]
        year = f"{dates[0]:%Y}" if dates else ""
        for place, part in enumerate(self._parts):
            so_far = " ".join(["%Y", *self._parts[: place + 1]])
            finest = place == len(self._parts) - 1
            pieces, before = [], ""
            for date in dates:
                text = date.strftime(part)
                now = date.strftime(so_far)
                pieces.append(Piece(text if finest or now != before else "", self._plain, text))
                before = now
            yield HeadingLine(year if place == 0 else "", pieces, names_run=finest)

    @staticmethod
    def _texts(name: str, texts: Sequence[str], style: Style) -> HeadingLine:
        return HeadingLine(name, [Piece(text, style, text) for text in texts])
