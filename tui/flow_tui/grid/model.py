"""What somebody sees of a grid and points at: its rows and columns, a cursor, marks, and what is to
be loaded next.

The cursor and the marks hold on to runs and tasks, not to numbers: they stay where they are when
columns come and go and groups fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, NamedTuple

from flow.ops.grid_window import ABSENT, Column, GridChanges, GridWindow, state_of
from flow.states import TaskState
from flow.store.read.grid import GridRun, InstanceStates
from flow_tui.grid.columns import Columns, Difference
from flow_tui.grid.rows import Kind, MapPath, Row, RowKey, Tree, View

MARGIN: Final = 10
"""With fewer columns between what is shown and the end of what is loaded more is wanted."""


class Wanted(Enum):
    """What is to be loaded next."""

    OLDER = "older"
    NEWER = "newer"


class Cell(NamedTuple):
    """A cell by what it is about."""

    key: RowKey
    run_key: int


class Target(NamedTuple):
    """A task instance, or all of a task of a run where `map_path` is None."""

    run: GridRun
    task_id: str
    map_path: MapPath | None
    state: TaskState


class GridModel:
    """One DAG's grid."""

    def __init__(self, dag_id: str) -> None:
        self.columns = Columns(dag_id)
        self.rows: list[Row] = []
        self.tree = Tree(())
        self.row = 0
        self.column = 0
        self.marks: set[Cell] = set()
        self.folded: set[str] = set()
        self.text = ""
        self.anchor: Cell | None = None
        """Where a range begins that ends at the cursor."""
        self._expanded: set[str] = set()
        self._index: dict[RowKey, int] = {}
        self._graphs: tuple[str, ...] = ()
        """What the tree was made of."""
        self._wished: Cell | None = None
        """Where the cursor goes when its run is loaded."""

    # ── loading ──────────────────────────────────────────────────────────────────────────────────

    def replace(self, window: GridWindow) -> None:
        """Take the newest window; the cursor stays at its run, or goes to the newest one."""
        at = self.cell or self._wished
        self.columns.replace(window)
        self._rebuild(at)
        if at is None or self.columns.index(at.run_key) is None:
            self.column = max(0, len(self.columns.columns) - 1)

    def prepend(self, window: GridWindow) -> int:
        """Take older runs; how many columns came on the left."""
        at = self.cell
        came = self.columns.prepend(window)
        self._rebuild(at)
        return came

    def append(self, window: GridWindow) -> int:
        """Take newer runs; how many columns went on the left."""
        at = self.cell
        went = self.columns.append(window)
        self._rebuild(at)
        return went

    def update(self, changes: GridChanges) -> Difference:
        """Take what another look has found; who looks at the newest run goes on doing so."""
        at = self.cell
        follows = self.at_newest
        difference = self.columns.update(changes)
        if difference.moved:
            self._rebuild(at)
            if follows:
                self.column = max(0, len(self.columns.columns) - 1)
        return difference

    def take_instances(self, task_id: str, found: Iterable[InstanceStates]) -> None:
        """Show the instances of a mapped task."""
        at = self.cell
        self.columns.take_instances(task_id, found)
        self._expanded.add(task_id)
        self._rebuild(at)

    def wanted(self, first: int, count: int) -> Wanted | None:
        """What is to be loaded when these columns are shown."""
        if self.columns.has_older and first < MARGIN:
            return Wanted.OLDER
        if self.columns.has_newer and first + count > len(self.columns.columns) - MARGIN:
            return Wanted.NEWER
        return None

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.columns.columns)

    @property
    def current_row(self) -> Row | None:
        """The row of the cursor."""
        return self.rows[self.row] if self.rows else None

    @property
    def current(self) -> Column | None:
        """The column of the cursor."""
        return self.columns.columns[self.column] if self.width else None

    @property
    def cell(self) -> Cell | None:
        """What the cursor is at; None where there is no run or no row."""
        row, column = self.current_row, self.current
        return Cell(row.key, column.run.run_key) if row and column else None

    @property
    def at_newest(self) -> bool:
        """Whether the cursor is at the newest run there is."""
        return self.column >= self.width - 1 and not self.columns.has_newer

    @property
    def code(self) -> int:
        """The state under the cursor, as a byte."""
        row = self.current_row
        found = self.columns.codes(row.key, self.column, 1) if row else b""
        return found[0] if found else ABSENT

    def expanded(self) -> set[str]:
        """Mapped tasks that show their instances."""
        return set(self._expanded)

    def row_of(self, key: RowKey) -> int | None:
        """Where a row stands, if it is shown."""
        return self._index.get(key)

    # ── moving ───────────────────────────────────────────────────────────────────────────────────

    def move(self, rows: int = 0, columns: int = 0) -> None:
        """Move the cursor by so many rows and columns, as far as they go."""
        self.go(self.row + rows, self.column + columns)

    def go(self, row: int, column: int) -> None:
        """Move the cursor there, or as near as there is something."""
        self.row = max(0, min(row, len(self.rows) - 1))
        self.column = max(0, min(column, self.width - 1))

    def go_to(self, cell: Cell) -> None:
        """Move the cursor to what a cell is about, now or as soon as its run is loaded."""
        self._wished = cell if self.columns.index(cell.run_key) is None else None
        self._restore(cell)

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────

    def toggle(self) -> str | None:
        """Fold or unfold the group under the cursor, take the instances of its task away.

        Returns the task whose instances are to be read, if it has any that are not shown.
        """
        row = self.current_row
        if row is None:
            return None
        if row.key.kind is Kind.GROUP:
            self._set_folded(self.folded ^ {row.key.id})
        elif row.open is False:
            return row.key.id
        elif row.key.id in self._expanded:
            at = self.cell
            self._expanded.discard(row.key.id)
            self._rebuild(at)
        return None

    def toggle_all(self) -> None:
        """Fold all groups, or unfold them all where none is open."""
        some_open = any(row.open for row in self.rows if row.key.kind is Kind.GROUP)
        self._set_folded(set(self.tree.groups()) if some_open else set())

    def filter(self, text: str) -> None:
        """Show only tasks and groups with a text in their ids; "" shows all."""
        at = self.cell
        self.text = text
        self._rebuild(at)

    # ── marking ──────────────────────────────────────────────────────────────────────────────────

    def mark(self) -> None:
        """Mark the cell under the cursor, or all of a range; a marked one is unmarked."""
        cells = self.range() or ([self.cell] if self.cell else [])
        self.anchor = None
        if self.marks.issuperset(cells):
            self.marks.difference_update(cells)
        else:
            self.marks.update(cells)

    def begin_range(self) -> None:
        """Let a range begin at the cursor, unless one has begun."""
        self.anchor = self.anchor or self.cell

    def unmark(self) -> bool:
        """Give up the range, else the marks; whether there was anything to give up."""
        had = self.anchor is not None or bool(self.marks)
        if self.anchor is not None:
            self.anchor = None
        else:
            self.marks.clear()
        return had

    def bounds(self) -> tuple[range, range] | None:
        """The rows and columns of the range; None without one."""
        if self.anchor is None:
            return None
        row = self.row_of(self.anchor.key)
        column = self.columns.index(self.anchor.run_key)
        if row is None or column is None:
            return None
        return _between(row, self.row), _between(column, self.column)

    def range(self) -> list[Cell]:
        """The cells from where the range began to the cursor."""
        bounds = self.bounds()
        if bounds is None:
            return []
        keys = [self.columns.columns[column].run.run_key for column in bounds[1]]
        return [Cell(self.rows[row].key, key) for row in bounds[0] for key in keys]

    def targets(self) -> list[Target]:
        """The task instances that are marked or in the range, else those under the cursor.

        By run, oldest first; a group stands for its tasks, what a run does not have is left out.
        """
        chosen = {*self.marks, *self.range()} or ({self.cell} if self.cell else set())
        by_column: dict[int, set[RowKey]] = {}
        for cell in chosen:
            index = self.columns.index(cell.run_key)
            if index is not None:
                by_column.setdefault(index, set()).add(cell.key)
        found = {
            target: None
            for index, keys in sorted(by_column.items())
            for key in self._in_order(keys)
            for target in self._targets(key, index)
        }
        return list(found)

    # ── inside ───────────────────────────────────────────────────────────────────────────────────

    def _targets(self, key: RowKey, index: int) -> Iterator[Target]:
        run = self.columns.columns[index].run
        is_instance = key.kind is Kind.INSTANCE
        for task_id in self.tree.tasks_of(key):
            one = key if is_instance else RowKey(Kind.TASK, task_id)
            state = state_of(self.columns.codes(one, index, 1)[0])
            if state is not None:
                yield Target(run, task_id, key.map_path if is_instance else None, state)

    def _set_folded(self, folded: set[str]) -> None:
        at = self.cell
        self.folded = folded
        self._rebuild(at)

    def _rebuild(self, at: Cell | None) -> None:
        """The rows anew, and the cursor where it was."""
        columns = self.columns
        graphs = (columns.latest, *columns.others())
        if graphs != self._graphs:
            self.tree = Tree(
                columns.rows.get(graphs[0], ()), [columns.rows[graph] for graph in graphs[1:]]
            )
            self._graphs = graphs
        mapped = columns.mapped()
        expanded = {task_id: columns.map_paths(task_id) for task_id in self._expanded & mapped}
        self.rows = self.tree.rows(View(self.folded, mapped, expanded, self.text))
        self._index = {row.key: index for index, row in enumerate(self.rows)}
        runs = {column.run.run_key for column in columns.columns}
        self.marks = {one for one in self.marks if one.run_key in runs and self._known(one.key)}
        if at is not None:
            self._restore(at)
        self.go(self.row, self.column)

    def _restore(self, at: Cell) -> None:
        column = self.columns.index(at.run_key)
        task = RowKey(Kind.TASK, at.key.id)
        around = [at.key, task, *reversed(self._groups_around(at.key))]
        row = next((self._index[key] for key in around if key in self._index), self.row)
        self.go(row, self.column if column is None else column)

    def _groups_around(self, key: RowKey) -> tuple[RowKey, ...]:
        of = RowKey(Kind.TASK, key.id) if key.kind is Kind.INSTANCE else key
        return self.tree.above.get(of, ())

    def _known(self, key: RowKey) -> bool:
        return key in self._index or key in self.tree.above

    def _in_order(self, keys: set[RowKey]) -> list[RowKey]:
        last = len(self.rows)
        return sorted(keys, key=lambda key: (self._index.get(key, last), key.id, key.map_path))


def _between(one: int, other: int) -> range:
    return range(min(one, other), max(one, other) + 1)
