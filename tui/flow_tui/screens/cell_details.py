"""What is said of the cell under the cursor of a grid: what the grid knows at once, then more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from rich.text import Text

from flow.ops import tasks, why
from flow.ops.deployment import Deployment
from flow.ops.grid_window import ABSENT, state_of
from flow.ops.tasks import TriesOfTask
from flow.ops.why import Answer
from flow.task_reference import task_reference
from flow.wording.cells import printable, width_of
from flow.wording.grid import TYPE_MARKS
from flow.wording.layout import shortened
from flow.wording.moments import took
from flow.wording.tries import UNRUN
from flow_tui.grid.model import Cell, GridModel
from flow_tui.grid.rows import Kind, RowKey
from flow_tui.looks import word_of
from flow_tui.screens.reason_lines import reason_lines
from flow_tui.sentences import joined
from flow_tui.widgets.fitting import Piece

_SHORTEST_NAME: Final = 16


class CellDetails(NamedTuple):
    """What is read of a task instance."""

    cell: Cell
    found: TriesOfTask
    answer: Answer


def read(deployment: Deployment, dag_id: str, run_id: str, cell: Cell) -> CellDetails:
    """The tries of the task instance of a cell, and why it is as it is. Raises `NotFound`."""
    reference = task_reference(cell.key.id, cell.key.map_path)
    found = tasks.tries(deployment, dag_id, run_id, reference)
    return CellDetails(cell, found, why.why(deployment, dag_id, run_id, reference))


def describe(model: GridModel, details: CellDetails | None, width: int) -> Text:
    """Two lines about the cell under the cursor; `details` once they are read.

    A name is shortened where less than `width` columns are left for what is said of its run.
    """
    cell, column = model.cell, model.current
    if cell is None or column is None:
        return Text("no run yet" if not model.width else "no task fits the filter", "dim")
    run = column.run
    how = f"run {run.state}{' in ' if run.ended_at else ''}{took(run.started_at, run.ended_at)}"
    state = state_of(model.code)
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(*(word_of(state.value) if state else Piece("not in this version")))
    date = run.logical_date.astimezone(ZoneInfo(model.columns.timezone))
    made = run.run_type if run.run_type in TYPE_MARKS else None
    of_run = f" · {joined(f'{date:%F %R}', made, how, f'version {run.version}')}"
    name = printable(task_reference(cell.key.id, cell.key.map_path))
    room = max(_SHORTEST_NAME, width - len(text) - 2 - width_of(of_run))
    text.append(f"  {shortened(name, room, symbols=True)}", "bold")
    text.append(of_run, "dim")
    text.append(f"\n{_second_line(model, cell, column.mapped, details)}")
    return text


def _second_line(
    model: GridModel,
    cell: Cell,
    mapped: Mapping[str, Mapping[str, int]],
    details: CellDetails | None,
) -> str:
    if cell.key.kind is Kind.GROUP:
        return _counts(_of_group(model, cell.key))
    if cell.key.kind is Kind.TASK and cell.key.id in mapped:
        return f"mapped: {_counts(mapped[cell.key.id])}"
    if details is None or details.cell != cell:
        return ""
    tried = _of_try(details.found) if details.found.tries else ""
    return joined(tried, *reason_lines(details.answer, 1))


def _of_group(model: GridModel, key: RowKey) -> Counter[str]:
    """How many of its tasks are in each state."""
    codes = [
        model.columns.codes(RowKey(Kind.TASK, task_id), model.column, 1)[0]
        for task_id in model.tree.tasks_of(key)
    ]
    return Counter(str(state_of(code)) for code in codes if code != ABSENT)


def _counts(tallies: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in sorted(tallies.items()))


def _of_try(found: TriesOfTask) -> str:
    last = found.tries[-1]
    said = f"{UNRUN if found.unrun else ''}try {last.try_number}"
    if last.ended_at is not None:
        said += f" took {took(last.started_at, last.ended_at)}"
    return f"{said} on {printable(last.worker)}"
