"""Tables side by side: the cursor goes on from one into the next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar

from textual.binding import BindingType

from flow_tui.movements import moves
from flow_tui.widgets.columns import Row
from flow_tui.widgets.table import Column, Table


class Panel(Table[Row]):
    """A table in a frame with a title. At its ends the cursor goes on in the next panel."""

    DEFAULT_CSS = """
    Panel { border: round $foreground 30%; border-title-color: $text-muted; }
    Panel:focus { border: round $primary; border-title-color: $text; border-title-style: bold; }
    Panel > .table--cursor, Panel:ansi > .table--cursor {
        background: $background; text-style: none;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        moves("move.left", "go(-1)"),
        moves("move.right", "go(1)"),
    ]

    def __init__(
        self,
        name: str,
        title: str,
        columns: Sequence[Column[Row]],
        key: Callable[[Row], Hashable],
        *,
        empty: str,
    ) -> None:
        """`name` is its id; `empty` is said where there is nothing in it."""
        super().__init__(columns, key, empty=empty, headed=False, id=name)
        self.border_title = title

    def action_move(self, by: int) -> None:
        """Move the cursor; past an end, into the next panel."""
        if 0 <= self.at + by < len(self.rows):
            self.at += by
        else:
            self.action_go(by)

    def action_go(self, by: int) -> None:
        """To the next panel with something in it, if there is one."""
        panels = [one for one in self.screen.query(Panel) if one.rows or one is self]
        place = panels.index(self) + by
        if 0 <= place < len(panels):
            panels[place].enter(from_above=by > 0)

    def enter(self, *, from_above: bool) -> None:
        """The cursor comes into this panel."""
        self.at = 0 if from_above else len(self.rows) - 1
        self.focus()
