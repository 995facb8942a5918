"""The grid of a DAG: its tasks over its runs, a cell for each, and what is known of one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from textual import on, work
from textual.app import ComposeResult
from textual.widgets import Input, Static

from flow.errors import FlowError
from flow.ops import grid_window
from flow.store.read.grid import Place
from flow.task_reference import task_reference
from flow.wording.cells import counted
from flow.wording.looks import can_write_symbols
from flow_tui import targets
from flow_tui.action import Action
from flow_tui.background import start
from flow_tui.grid.model import Wanted
from flow_tui.grid.remembered import Remembered, recall, remember
from flow_tui.grid.rows import Kind as RowKind
from flow_tui.grid.rows import RowKey
from flow_tui.looking import opened
from flow_tui.screens import cell_details
from flow_tui.screens.cell_details import CellDetails
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
from flow_tui.view import View
from flow_tui.widgets.grid_view import GridView
from flow_tui.widgets.recall import RecallInput

WINDOW: Final = 50
"""Runs that are read at a time."""
_REST: Final = 0.15
"""Seconds that the cursor has to rest on a cell before more is read of it."""
_MEMORY: Final = "grids"
_FILTERS: Final = "grid.filter"


class GridScreen(View):
    """Opens at the newest run; everything else of a DAG is a key away."""

    KINDS = frozenset({Kind.DAG, Kind.TASK, Kind.GRID})
    TAKEN = frozenset({"task.log", "dag.runs"})
    # The key of the log moves the cursor; enter opens the task on its log. All runs are here.

    DEFAULT_CSS = """
    GridScreen GridView { height: 1fr; margin: 0 1; }
    GridScreen #cell {
        height: 2; padding: 0 1; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    GridScreen #filter { display: none; height: 1; border: none; padding: 0 1; }
    GridScreen #filter.shown { display: block; }
    """

    def __init__(self, dag_id: str) -> None:
        super().__init__()
        self.grid = GridView(dag_id, symbols=can_write_symbols(self.app.console.encoding))
        self._dag_id = dag_id
        self._paused = False
        self._details: CellDetails | None = None
        self._details_stale = False
        self._row: RowKey | None = None
        """Where the cursor goes first."""
        self._targets: list[Target] | None = None
        """What is pointed at, once somebody has asked."""

    def content(self) -> ComposeResult:
        yield self.grid
        yield RecallInput(placeholder="tasks and groups with these letters", id="filter")
        yield Static(id="cell")

    def on_mount(self) -> None:
        super().on_mount()
        self.grid.focus()
        self.grid.pointed.subscribe(self, self.pointed, immediate=True)
        left = recall(self.flow.memory.get(_MEMORY), self._dag_id)
        self.grid.model.folded = set(left.folded)
        self.grid.model.text = left.text
        self._row = left.row

    def on_unmount(self) -> None:
        """Remember how it is left."""
        model = self.grid.model
        row = model.current_row
        now = Remembered(frozenset(model.folded), model.text, row.key if row else None)
        memory = self.flow.memory
        memory.set(_MEMORY, remember(memory.get(_MEMORY), self._dag_id, now))

    @property
    def path(self) -> tuple[str, ...]:
        return ("DAGs", self._dag_id)

    @property
    def command(self) -> str:
        return opened(targets.dag(self._dag_id))

    # ── what actions act on ──────────────────────────────────────────────────────────────────────

    def targets(self) -> Sequence[Target]:
        if self._targets is None:
            self._targets = [
                targets.task(
                    self._dag_id,
                    one.run.run_id,
                    task_reference(one.task_id, one.map_path or ()),
                    one.state.value,
                )
                for one in self.grid.model.targets()
            ]
        return self._targets

    def targets_of(self, action: Action) -> Sequence[Target]:
        if Kind.DAG in action.kinds and Kind.TASK not in action.kinds:
            return [targets.dag(self._dag_id, paused=self._paused)]
        return super().targets_of(action)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def load(self) -> None:
        columns = self.grid.model.columns
        seen, known = columns.seen(), dict(columns.rows)
        if seen is None:
            window = await self.read(lambda at: grid_window.newest(at, self._dag_id, WINDOW, known))
            self.grid.show(window)
            self._go_back()
        else:
            changes = await self.read(lambda at: grid_window.refresh(at, self._dag_id, seen, known))
            window = changes.window
            self.grid.take(changes)
        self._paused = window.paused
        for task_id in self.grid.model.expanded():
            await self._load_instances(task_id)
        self._details_stale = True
        self._told()

    @on(GridView.MoreWanted)
    def more_wanted(self, message: GridView.MoreWanted) -> None:
        """Read what comes into sight."""
        start(self, partial(self._load_more, message.wanted), group="more")

    async def _load_more(self, wanted: Wanted) -> None:
        columns = self.grid.model.columns
        place = self._end(wanted)
        if place is None:
            return
        read = grid_window.older if wanted is Wanted.OLDER else grid_window.newer
        known = dict(columns.rows)
        try:
            window = await self.read(lambda at: read(at, self._dag_id, place, WINDOW, known))
        except FlowError as error:
            self.grid.give_up_loading()
            self.failed(error)
            return
        if self._end(wanted) != place:  # it has been read anew meanwhile
            self.grid.give_up_loading()
        elif wanted is Wanted.OLDER:
            self.grid.prepend(window)
        else:
            self.grid.append(window)
        self._told()

    def _end(self, wanted: Wanted) -> Place | None:
        """The place of the first or the last run that is loaded."""
        columns = self.grid.model.columns.columns
        if not columns:
            return None
        return columns[0 if wanted is Wanted.OLDER else -1].run.place

    @on(GridView.InstancesWanted)
    def instances_wanted(self, message: GridView.InstancesWanted) -> None:
        """Read the instances of a mapped task."""
        start(self, partial(self._expand, message.task_id), group="instances")

    async def _expand(self, task_id: str) -> None:
        try:
            await self._load_instances(task_id)
        except FlowError as error:
            self.failed(error)

    async def _load_instances(self, task_id: str) -> None:
        columns = self.grid.model.columns.columns
        keys = [column.run.run_key for column in columns if task_id in column.mapped]
        found = await self.read(partial(grid_window.instances, run_keys=keys, task_id=task_id))
        self.grid.take_instances(task_id, found)

    def _go_back(self) -> None:
        """To the row where somebody was the last time."""
        model = self.grid.model
        cell = model.cell
        if self._row is not None and cell is not None:
            self.grid.go_to(cell._replace(key=self._row))
        self._row = None

    # ── the cell under the cursor ────────────────────────────────────────────────────────────────

    def pointed(self, _: GridView) -> None:
        """Say what is known of the cell."""
        self._told()
        self.update_hints()

    def _told(self) -> None:
        self._targets = None
        model = self.grid.model
        runs = f"{model.width}+ runs" if model.columns.has_older else counted(model.width, "run")
        selected = model.marks or model.anchor
        told = joined(
            runs if model.width else None,
            f"tasks with {model.text!r}" if model.text else None,
            f"{counted(len(self.targets()), 'task')} selected" if selected else None,
        )
        self.tell(told)
        self._describe()
        self._load_details()

    @work(group="details", exclusive=True)
    async def _load_details(self) -> None:
        model = self.grid.model
        cell, column = model.cell, model.current
        shown = self._details is not None and self._details.cell == cell
        read_already = shown and not self._details_stale
        if cell is None or column is None or cell.key.kind is RowKind.GROUP or read_already:
            return
        if model.code == grid_window.ABSENT or cell.key.id in column.mapped:
            return
        await asyncio.sleep(_REST)
        run_id = column.run.run_id
        try:
            self._details = await self.read(
                lambda at: cell_details.read(at, self._dag_id, run_id, cell)
            )
        except FlowError as error:
            self.failed(error)
            return
        self._details_stale = False
        if model.cell == cell:
            self._describe()

    def _describe(self) -> None:
        width = self.size.width - 2
        text = cell_details.describe(self.grid.model, self._details, width)
        self.query_one("#cell", Static).update(text, layout=False)

    # ── actions ──────────────────────────────────────────────────────────────────────────────────

    @on(GridView.Opened)
    def opened(self) -> None:
        """Show the task."""
        model = self.grid.model
        row, column = model.current_row, model.current
        if row is None or column is None:
            return
        if model.code == grid_window.ABSENT:
            said = f"version {column.run.version} of the DAG does not have {row.key.id}"
            self.notify(said, severity="warning", timeout=4)
            return
        reference = task_reference(row.key.id, row.key.map_path)
        self.flow.open(targets.task(self._dag_id, column.run.run_id, reference))

    def do_app_open(self) -> None:
        """Open the cell."""
        self.grid.open()

    def do_run_details(self) -> None:
        """Show the run of the cursor's column."""
        column = self.grid.model.current
        if column is not None:
            self.flow.open(targets.run(self._dag_id, column.run.run_id, column.run.state))

    def do_grid_fold(self) -> None:
        """Fold or unfold what is under the cursor."""
        self.grid.fold()

    def do_grid_fold_all(self) -> None:
        """Fold or unfold all groups."""
        self.grid.fold_all()

    def do_app_back(self) -> None:
        """Give up what is selected, then the filter; then back."""
        if self.grid.select_none():
            return
        if self.grid.model.text:
            self._filter("")
        else:
            self.flow.do_app_back(())

    # ── the filter ───────────────────────────────────────────────────────────────────────────────

    def do_app_filter(self) -> None:
        """Type the filter."""
        box = self.query_one(RecallInput)
        box.value = self.grid.model.text
        box.add_class("shown")
        box.begin(self.flow.memory.history(_FILTERS))

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        """Show what fits so far."""
        if event.input.has_class("shown"):
            self._filter(event.value)

    @on(Input.Submitted)
    def chosen_filter(self) -> None:
        """Back to the grid."""
        self._leave_filter()

    def key_escape(self) -> None:
        """Out of the filter."""
        if self.query_one("#filter").has_focus:
            self._leave_filter()

    def _leave_filter(self) -> None:
        if self.grid.model.text:
            self.flow.memory.add(_FILTERS, self.grid.model.text)
        self.query_one("#filter").remove_class("shown")
        self.grid.focus()

    def _filter(self, text: str) -> None:
        self.grid.filter(text)
        self._told()
