"""The columns of a grid: runs that follow each other, loaded window by window, oldest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from flow.ops.grid_window import (
    ABSENT,
    Column,
    GridChanges,
    GridRow,
    GridWindow,
    Rows,
    Seen,
)
from flow.store.read.grid import InstanceStates
from flow_tui.grid.rows import Kind, MapPath, RowKey

MOST: Final = 1_000
"""Columns that are kept. What is farthest from where somebody looks is dropped, and read again
when it is asked for."""


class Places:
    """Where the tasks and groups of a graph stand in the states of its columns."""

    def __init__(self, rows: Sequence[GridRow]) -> None:
        self.rows = rows
        self.tasks = {row.task_id: place for place, row in enumerate(rows)}
        self.groups: dict[str, tuple[int, int]] = {}
        for place, row in enumerate(rows):
            for group in row.groups:
                first, _ = self.groups.get(group, (place, place))
                self.groups[group] = (first, place + 1)


class Difference(NamedTuple):
    """What another look has changed."""

    moved: bool
    """Columns came or went, or there are other rows than before."""
    runs: set[int]
    """Keys of runs that look different themselves."""
    tasks: dict[int, set[str]]
    """Tasks whose cells look different, by run_key."""


@dataclass(slots=True)
class Columns:
    """The columns, and which rows their graphs have. Without `latest` nothing is loaded yet."""

    dag_id: str
    timezone: str = "UTC"
    latest: str = ""
    looked_at: datetime | None = None
    columns: list[Column] = field(default_factory=list)
    rows: dict[str, Rows] = field(default_factory=dict)
    has_older: bool = False
    has_newer: bool = False
    most: int = MOST
    _places: dict[str, Places] = field(default_factory=dict)
    _index: dict[int, int] = field(default_factory=dict)
    _instances: dict[str, dict[int, InstanceStates]] = field(default_factory=dict)

    # ── loading ──────────────────────────────────────────────────────────────────────────────────

    def replace(self, window: GridWindow) -> None:
        """Take the newest window in place of all there is."""
        self._learn(window)
        self.latest = window.latest
        self.looked_at = window.looked_at
        self.has_older, self.has_newer = window.more, False
        self._keep(window.columns)

    def prepend(self, window: GridWindow) -> int:
        """Take a window of older runs; how many columns came on the left."""
        new = self._new(window)
        self._learn(window)
        self.has_older = window.more
        columns = [*new, *self.columns]
        self.has_newer = self.has_newer or len(columns) > self.most
        self._keep(columns[: self.most])
        return len(new)

    def append(self, window: GridWindow) -> int:
        """Take a window of newer runs; how many columns went on the left to make room."""
        new = self._new(window)
        self._learn(window)
        self.has_newer = window.more
        columns = [*self.columns, *new]
        dropped = max(0, len(columns) - self.most)
        self.has_older = self.has_older or dropped > 0
        self._keep(columns[dropped:])
        return dropped

    def update(self, changes: GridChanges) -> Difference:
        """Take what another look has found."""
        window = changes.window
        before = {column.run.run_key: column for column in self.columns}
        self._learn(window)
        self.looked_at = window.looked_at
        moved = window.latest != self.latest or bool(changes.gone)
        self.latest = window.latest
        after = {key: column for key, column in before.items() if key not in set(changes.gone)}
        runs: set[int] = set()
        tasks: dict[int, set[str]] = {}
        for column in window.columns:
            key = column.run.run_key
            old = after.get(key)
            after[key] = column
            if old is None or _shape(old) != _shape(column):
                moved = True
                continue
            if old.run != column.run:
                runs.add(key)
            if different := self._different(old, column):
                tasks[key] = different
        if moved:
            self._keep(self._newest_of(sorted(after.values(), key=lambda one: one.run.place)))
        else:
            self._keep([after[column.run.run_key] for column in self.columns])
        return Difference(moved, runs, tasks)

    def take_instances(self, task_id: str, found: Iterable[InstanceStates]) -> None:
        """Take the instances of a mapped task that were read, beside those of other runs."""
        of_task = self._instances.setdefault(task_id, {})
        of_task.update((one.run_key, one) for one in found)

    def seen(self) -> Seen | None:
        """What another look is about; None where there is nothing to compare with."""
        if not self.columns or self.looked_at is None:
            return None
        runs = [column.run for column in self.columns]
        return Seen(runs, self.looked_at, newest=not self.has_newer)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    def index(self, run_key: int) -> int | None:
        """Where the column of a run stands."""
        return self._index.get(run_key)

    def others(self) -> list[str]:
        """The graphs of columns other than the latest, that of the newest column first."""
        graphs = dict.fromkeys(column.graph for column in reversed(self.columns))
        return [graph for graph in graphs if graph != self.latest]

    def mapped(self) -> set[str]:
        """Tasks that have instances in one of the columns."""
        return {task_id for column in self.columns for task_id in column.mapped}

    def map_paths(self, task_id: str) -> list[MapPath]:
        """The instances of a task that were read of any column, in order."""
        found = self._instances.get(task_id, {}).values()
        return sorted({path for one in found for path in one.states})

    def codes(self, key: RowKey, first: int, count: int) -> bytes:
        """A byte for the state in each of some columns; of a group the loudest one's."""
        columns = self.columns[first : first + count]
        if key.kind is not Kind.TASK:
            return bytes([self._code(key, column) for column in columns])
        places = {graph: found.tasks.get(key.id) for graph, found in self._places.items()}
        return bytes(
            [
                ABSENT if (place := places[column.graph]) is None else column.states[place]
                for column in columns
            ]
        )

    def _code(self, key: RowKey, column: Column) -> int:
        """The state of a group or of an instance."""
        if key.kind is Kind.INSTANCE:
            found = self._instances.get(key.id, {}).get(column.run.run_key)
            return found.states.get(key.map_path, ABSENT) if found else ABSENT
        first, last = self._places[column.graph].groups.get(key.id, (0, 0))
        # Codes are places in the order of loudness, so the least is the loudest, absence the last.
        return min(column.states[first:last], default=ABSENT)

    def _new(self, window: GridWindow) -> list[Column]:
        return [column for column in window.columns if column.run.run_key not in self._index]

    def _newest_of(self, columns: list[Column]) -> list[Column]:
        dropped = max(0, len(columns) - self.most)
        self.has_older = self.has_older or dropped > 0
        return columns[dropped:]

    def _learn(self, window: GridWindow) -> None:
        self.timezone = window.timezone
        self.rows.update(window.rows)
        for graph, rows in window.rows.items():
            self._places[graph] = Places(rows)

    def _keep(self, columns: list[Column]) -> None:
        self.columns = columns
        self._index = {column.run.run_key: index for index, column in enumerate(columns)}
        used = {self.latest, *(column.graph for column in columns)}
        for table in (self.rows, self._places):
            for graph in table.keys() - used:
                del table[graph]
        for of_task in self._instances.values():
            for run_key in of_task.keys() - self._index.keys():
                del of_task[run_key]

    def _different(self, old: Column, new: Column) -> set[str]:
        """Tasks whose cells look different in two states of a column."""
        rows = self.rows[new.graph]
        if old.states == new.states:
            return set()
        pairs = zip(rows, old.states, new.states, strict=True)
        return {row.task_id for row, before, after in pairs if before != after}


def _shape(column: Column) -> object:
    """What of a column says where it stands and which rows it has."""
    return column.run.place, column.graph, column.mapped.keys()
