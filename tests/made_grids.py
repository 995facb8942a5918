"""Grids made by hand: runs of a DAG whose versions have some tasks, read as from a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from flow.ops.grid_window import (
    Column,
    GridChanges,
    GridRow,
    GridWindow,
    Known,
    Rows,
    Seen,
    code_of,
)
from flow.states import FINISHED_RUNS, TaskState
from flow.store.read.grid import GridRun, InstanceStates, Place

START = datetime(2026, 1, 1, tzinfo=UTC)
ROWS: Rows = (
    GridRow("extract", ()),
    GridRow("load.raw", ("load",)),
    GridRow("load.ch.clean", ("load", "load.ch")),
    GridRow("load.ch.join", ("load", "load.ch")),
    GridRow("load.done", ("load",)),
    GridRow("report", ()),
)


def day(number: int, **fields: object) -> GridRun:
    """The run of a day, finished unless said otherwise; it took as many minutes as its number."""
    at = START + timedelta(days=number)
    run = GridRun(
        run_key=number,
        run_id=f"scheduled__{at.isoformat()}",
        run_type="scheduled",
        state="success",
        logical_date=at,
        started_at=at,
        ended_at=at + timedelta(minutes=1 + number % 60),
        version=1,
    )
    return run._replace(**fields)  # type: ignore[arg-type]


@dataclass
class Ledger:
    """What a database would hold: columns in order, and the rows of every graph."""

    columns: list[Column] = field(default_factory=list)
    graphs: dict[str, Rows] = field(default_factory=lambda: {"v1": ROWS})
    latest: str = "v1"
    instances: dict[str, list[InstanceStates]] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    """What has been asked for."""

    def add(
        self,
        run: GridRun,
        states: Mapping[str, TaskState] | None = None,
        otherwise: TaskState = TaskState.SUCCESS,
        graph: str | None = None,
        mapped: Mapping[str, dict[str, int]] | None = None,
    ) -> None:
        """Add a run, or put it in place of the one with its key."""
        rows = self.graphs[graph or self.latest]
        codes = bytes(code_of((states or {}).get(row.task_id, otherwise)) for row in rows)
        column = Column(run, graph or self.latest, codes, dict(mapped or {}))
        kept = [one for one in self.columns if one.run.run_key != run.run_key]
        self.columns = sorted([*kept, column], key=lambda one: one.run.place)

    def newest(self, limit: int, known: Known) -> GridWindow:
        """As `flow.ops.grid_window.newest`."""
        self.reads.append("newest")
        return self._window(self.columns[-limit:], known, more=len(self.columns) > limit)

    def older(self, than: Place, limit: int, known: Known) -> GridWindow:
        """As `flow.ops.grid_window.older`."""
        self.reads.append("older")
        before = [one for one in self.columns if one.run.place < than]
        return self._window(before[-limit:], known, more=len(before) > limit)

    def newer(self, than: Place, limit: int, known: Known) -> GridWindow:
        """As `flow.ops.grid_window.newer`."""
        self.reads.append("newer")
        after = [one for one in self.columns if one.run.place > than]
        return self._window(after[:limit], known, more=len(after) > limit)

    def refresh(self, seen: Seen, known: Known) -> GridChanges:
        """As `flow.ops.grid_window.refresh`, without what was marked in finished runs."""
        self.reads.append("refresh")
        before = {run.run_key: run for run in seen.runs}
        found = [
            one
            for one in self.columns
            if one.run.place >= seen.runs[0].place
            and (seen.newest or one.run.place <= seen.runs[-1].place)
        ]
        changed = [
            one
            for one in found
            if one.run.state not in FINISHED_RUNS or before.get(one.run.run_key) != one.run
        ]
        gone = before.keys() - {one.run.run_key for one in found}
        return GridChanges(self._window(changed, known, more=False), sorted(gone))

    def _window(self, columns: Sequence[Column], known: Known, *, more: bool) -> GridWindow:
        graphs = {self.latest, *(one.graph for one in columns)}
        rows = {graph: self.graphs[graph] for graph in graphs if graph not in known}
        return GridWindow("sales", "UTC", False, self.latest, rows, list(columns), more, START)


def year(days: int = 60, tasks: int | None = None) -> Ledger:
    """Daily runs; with `tasks` so many of them in groups of ten."""
    ledger = Ledger()
    if tasks is not None:
        ledger.graphs["v1"] = tuple(
            GridRow(f"part_{n // 10:02}.task_{n:03}", (f"part_{n // 10:02}",)) for n in range(tasks)
        )
    for number in range(days):
        failed = {ledger.graphs["v1"][number % 5].task_id: TaskState.FAILED}
        ledger.add(day(number), failed if number % 7 == 0 else None)
    return ledger
