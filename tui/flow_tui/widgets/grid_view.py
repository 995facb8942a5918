"""The grid as a widget: tasks × runs, a cell for each, under the names and headings that stay.

It draws line by line what its model holds, and only those lines anew that have changed. It reads
nothing: it posts what it wants, and whoever shows it answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.signal import Signal

from flow.ops.grid_window import GridChanges, GridWindow
from flow.store.read.grid import InstanceStates
from flow.wording.grid import COLUMN
from flow_tui.grid.model import Cell, Wanted
from flow_tui.movements import moves
from flow_tui.widgets.grid_canvas import GridCanvas


class GridView(GridCanvas):
    """Shows a `GridModel`, and moves its cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        moves("move.left", "move(0, -1)"),
        moves("move.right", "move(0, 1)"),
        moves("move.up", "move(-1, 0)"),
        moves("move.down", "move(1, 0)"),
        moves("grid.range_left", "extend(0, -1)"),
        moves("grid.range_right", "extend(0, 1)"),
        moves("grid.range_up", "extend(-1, 0)"),
        moves("grid.range_down", "extend(1, 0)"),
        moves("move.page_up", "page(-1)"),
        moves("move.page_down", "page(1)"),
        moves("grid.oldest", "end_of_row(False)"),
        moves("grid.newest", "end_of_row(True)"),
        moves("move.first", "end_of_column(False)"),
        moves("move.last", "end_of_column(True)"),
        Binding("ctrl+home", "end_of_column(False)", show=False),
        Binding("ctrl+end", "end_of_column(True)", show=False),
    ]

    class Opened(Message):
        """Somebody wants to see what is behind a cell."""

        def __init__(self, cell: Cell) -> None:
            super().__init__()
            self.cell = cell

    class MoreWanted(Message):
        """Older or newer runs are to be loaded; asked for once until they have come."""

        def __init__(self, wanted: Wanted) -> None:
            super().__init__()
            self.wanted = wanted

    class InstancesWanted(Message):
        """The instances of a mapped task are to be read."""

        def __init__(self, task_id: str) -> None:
            super().__init__()
            self.task_id = task_id

    def __init__(
        self,
        dag_id: str,
        *,
        symbols: bool = True,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`symbols`: whether the terminal can show them; else states are letters."""
        super().__init__(dag_id, symbols=symbols, id=id, classes=classes)
        self._asked: Wanted | None = None
        self.pointed: Signal[GridView] = Signal(self, "pointed")
        """The cursor is at another cell, or what is marked has changed. Told at once, so that what
        is said about the cell is painted together with the cursor."""

    # ── what it shows ────────────────────────────────────────────────────────────────────────────

    def show(self, window: GridWindow) -> None:
        """Show the newest runs."""
        self.model.replace(window)
        self._asked = None
        self._anew()
        self._reveal()

    def prepend(self, window: GridWindow) -> None:
        """Take the older runs that were wanted; what is seen stays where it is."""
        self._shift(self.model.prepend(window))

    def append(self, window: GridWindow) -> None:
        """Take the newer runs that were wanted; what is seen stays where it is."""
        self._shift(-self.model.append(window))

    def take(self, changes: GridChanges) -> None:
        """Take what another look has found, and draw only that anew."""
        cell = self.model.cell
        difference = self.model.update(changes)
        if difference.moved:
            self._anew()
            if cell != self.model.cell:
                self._reveal()
        elif difference.runs or difference.tasks:
            self._redraw(difference)
        self.pointed.publish(self)

    def take_instances(self, task_id: str, found: Iterable[InstanceStates]) -> None:
        """Show the instances of a mapped task."""
        self.model.take_instances(task_id, found)
        self._anew()

    def give_up_loading(self) -> None:
        """What was wanted has not come; it is asked for again when the grid is moved."""
        self._asked = None

    def filter(self, text: str) -> None:
        """Show only tasks and groups with a text in their ids."""
        self.model.filter(text)
        self._anew()
        self._reveal()

    def go_to(self, cell: Cell) -> None:
        """Move the cursor there."""
        self.model.go_to(cell)
        self._anew()
        self._reveal()

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────

    def action_move(self, rows: int, columns: int) -> None:
        """Move the cursor."""
        self._go(self.model.row + rows, self.model.column + columns)

    def action_extend(self, rows: int, columns: int) -> None:
        """Move the cursor, and let a range follow it."""
        self.model.begin_range()
        self.action_move(rows, columns)

    def action_page(self, pages: int) -> None:
        """Move the cursor by as many rows as are seen."""
        self.action_move(pages * max(1, self._body_height - 1), 0)

    def action_end_of_row(self, newest: bool) -> None:
        """Move the cursor to the newest or the oldest run that is loaded."""
        self._go(self.model.row, self.model.width - 1 if newest else 0)

    def action_end_of_column(self, last: bool) -> None:
        """Move the cursor to the last or the first row."""
        self._go(len(self.model.rows) - 1 if last else 0, self.model.column)

    # ── the selection ────────────────────────────────────────────────────────────────────────────

    def toggle(self) -> None:
        """Mark the cell under the cursor, or the range; marked ones are unmarked."""
        self.model.mark()
        self._pointed()

    def begin_range(self) -> None:
        """Begin a range; give it up if there is one."""
        if self.model.anchor is None:
            self.model.begin_range()
        else:
            self.model.unmark()
        self._pointed()

    def select_none(self) -> bool:
        """Give up the range, else the marks; whether there was anything to give up."""
        had = self.model.unmark()
        if had:
            self._pointed()
        return had

    # ── folding and opening ──────────────────────────────────────────────────────────────────────

    def fold(self) -> None:
        """Fold or unfold the group under the cursor, show the instances of a task or hide them."""
        wanted = self.model.toggle()
        if wanted is not None:
            self.post_message(self.InstancesWanted(wanted))
            return
        self._anew()
        self._reveal()

    def fold_all(self) -> None:
        """Fold all groups, or unfold them all."""
        self.model.toggle_all()
        self._anew()
        self._reveal()

    def open(self) -> None:
        """Open the cell under the cursor; what has rows in it shows or hides them instead."""
        row, cell = self.model.current_row, self.model.cell
        if row is not None and row.open is not None:
            self.fold()
        elif cell is not None:
            self.post_message(self.Opened(cell))

    # ── mouse ────────────────────────────────────────────────────────────────────────────────────

    def on_click(self, event: events.Click) -> None:
        """Move the cursor; a second click opens; with shift a range; on a sign it folds."""
        drawn, offset = self._drawn, event.get_content_offset(self)
        if drawn is None or offset is None:
            return
        row = offset.y - drawn.heading.height + self.scroll_offset.y
        left = offset.x - drawn.measures.names - 1
        column = self._first + left // COLUMN if left >= 0 else self.model.column
        if row >= len(self.model.rows) or column >= self.model.width > 0:
            return
        if event.shift:
            self.model.begin_range()
        self._go(row if offset.y >= drawn.heading.height else self.model.row, column)
        on_sign = left < 0 and self._on_sign(offset.x)
        if on_sign and offset.y >= drawn.heading.height:
            self.fold()
        elif event.chain == 2 and not on_sign:
            self.open()

    def _on_sign(self, x: int) -> bool:
        row = self.model.current_row
        return row is not None and row.open is not None and x <= 2 * row.depth + 1

    # ── moving ───────────────────────────────────────────────────────────────────────────────────

    def _go(self, row: int, column: int) -> None:
        model = self.model
        before = (model.row, model.column)
        model.go(row, column)
        if before == (model.row, model.column) or self._drawn is None:
            return
        if model.anchor is not None:
            self.refresh()
        else:
            for index in {before[0], model.row}:
                self._refresh_row(index)
            if before[1] != model.column:
                self._refresh_above(before[1])
                self._refresh_above(model.column)
        self._reveal()
        self.pointed.publish(self)

    def _pointed(self) -> None:
        """What is marked has changed."""
        self.refresh()
        self.pointed.publish(self)

    def _shift(self, columns: int) -> None:
        """Columns came on the left, or went: what is seen stays where it is."""
        self._asked = None
        first = self._first + columns
        self._anew()
        self.scroll_to(x=max(0, first) * COLUMN, animate=False, force=True)
        self.came_into_sight()
        self.pointed.publish(self)

    def came_into_sight(self) -> None:
        """Ask for more where the end of what is loaded comes near."""
        if self._drawn is None or self._asked is not None or not self.model.width:
            return
        wanted = self.model.wanted(self._first, self._drawn.measures.shown)
        if wanted is not None:
            self._asked = wanted
            self.post_message(self.MoreWanted(wanted))
