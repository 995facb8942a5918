"""The frame of every list: a table, a filter over it, and a line about what is under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from flow.wording.cells import printable
from flow_tui.action import Action
from flow_tui.filters import Narrowing, Prepared, Texts
from flow_tui.session import Operation
from flow_tui.view import AGES, View
from flow_tui.widgets.filter import FilterBar
from flow_tui.widgets.table import Column, Table

Row = TypeVar("Row")


class Listing(View, Generic[Row]):
    """A list of rows of one kind.

    A subclass says what its columns are and how a row is found, and hands its rows to `show`.
    """

    DEFAULT_CSS = """
    Listing #about {
        height: 1; background: $surface; color: $text-muted; padding: 0 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """
    FIELDS: ClassVar[tuple[str, ...]] = ()
    """What a filter can ask for, beside letters of the name."""
    LOOSE: ClassVar[bool] = False
    """Whether the letters of a word may stand apart in a name."""
    EMPTY: ClassVar[str] = "nothing here"
    """What is said where there is nothing, with what to do."""

    def __init__(self) -> None:
        super().__init__()
        self._narrowing: Narrowing[Row] = Narrowing(self.FIELDS, loose=self.LOOSE)

    # ── for subclasses ───────────────────────────────────────────────────────────────────────────

    def columns(self) -> Sequence[Column[Row]]:
        """The columns of the table."""
        raise NotImplementedError

    def key_of(self, row: Row) -> Hashable:
        """What tells rows apart."""
        raise NotImplementedError

    def texts(self, row: Row) -> Texts:
        """What the filter looks at."""
        raise NotImplementedError

    def about(self, row: Row) -> str:
        """A line about a row: what has no column, and times in full."""
        raise NotImplementedError

    def filter_changed(self) -> None:
        """Another filter is in force."""

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────

    async def read_rows(self, operation: Operation[Sequence[Row]]) -> list[Prepared[Row]]:
        """What an operation reads, prepared for the filter where it is read."""
        return await self.read(
            lambda deployment: [Prepared(row, self.texts(row)) for row in operation(deployment)]
        )

    def show(self, rows: Sequence[Prepared[Row]]) -> None:
        """Show these rows, those that fit the filter."""
        self._narrowing.take(rows)
        self._narrow()

    def now(self) -> datetime:
        """The moment against which ages are told."""
        return self.flow.now()

    @property
    def table(self) -> Table[Row]:
        """The table."""
        return self.query_one(Table)

    @property
    def bar(self) -> FilterBar:
        """The filter."""
        return self.query_one(FilterBar)

    def _narrow(self) -> None:
        table, bar = self.table, self.bar
        rows = self._narrowing.fitting(bar.text)
        filtered = bool(self._narrowing.filter.terms) and self._narrowing.total > 0
        table.empty = "nothing fits: esc shows all" if filtered else self.EMPTY
        table.show(rows)
        bar.count(len(rows), self._narrowing.total, self._narrowing.filter.unknown)
        self.tell(f"{self._narrowing.total:,}")

    # ── frame ────────────────────────────────────────────────────────────────────────────────────

    def content(self) -> ComposeResult:
        words = [f"{field}:" for field in self.FIELDS]
        hint = " ".join([*words, "!word"])
        yield FilterBar(self.path[0].lower(), self.flow.memory, hint)
        yield Table(self.columns(), self.key_of, empty="reading …")
        yield Static(id="about", markup=False)

    def on_mount(self) -> None:
        if not self.flow.to_filter:
            self.table.focus()
        self.set_interval(AGES, self.table.refresh_lines_seen)

    def on_screen_resume(self) -> None:
        if self.flow.to_filter:
            self.call_after_refresh(self._filter_at_once)

    def _filter_at_once(self) -> None:
        self.flow.to_filter = False
        self.do_app_filter()

    @on(Table.Moved)
    def _moved(self, message: Table.Moved) -> None:
        row: Any = message.row
        line = "" if row is None else printable(self.about(row))
        self.query_one("#about", Static).update(Text(line), layout=False)

    @on(FilterBar.Changed)
    def _filter_changed(self) -> None:
        self._narrow()
        if self.bar.text:
            self.table.at = 0  # the best one
        self.filter_changed()

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self.table.focus()
        self.update_hints()

    def do_app_filter(self) -> None:
        """Let somebody type a filter."""
        self.bar.open()
        self.update_hints()

    def has(self, action: Action) -> bool:
        # What somebody types is letters, not keys.
        return super().has(action) and not self.bar.typing

    def do_app_back(self) -> None:
        """Show everything again; where that is so, go back."""
        if self.bar.text:
            self.bar.clear()
        else:
            self.flow.do_app_back(())


def by(value: Callable[[Row], Any]) -> Callable[[Row], Any]:
    """What a column is ordered by, in lower case where it is a text."""

    def ordered(row: Row) -> Any:
        found = value(row)
        return found.lower() if isinstance(found, str) else found

    return ordered
