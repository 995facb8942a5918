"""What is said of the cell under the cursor of a grid: what the grid knows at once, then more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple
from zoneinfo import ZoneInfo

from rich.text import Text

from flow.ops import tasks, why
from flow.ops.deployment import Deployment
from flow.ops.grid_window import ABSENT, state_of
from flow.ops.tasks import TriesOfTask
from flow.ops.why import Answer
from flow.task_reference import task_reference
from flow.wording.cells import duration_text, printable
from flow.wording.grid import seconds
from flow.wording.run_names import brief
from flow.wording.tries import UNRUN
from flow_tui.grid.model import Cell, GridModel
from flow_tui.grid.rows import Kind, RowKey
from flow_tui.looks import mark_of, style_of

_APART = "  ·  "


class CellDetails(NamedTuple):
    """What is read of a task instance."""

    cell: Cell
    tries: TriesOfTask
    answer: Answer


def read(deployment: Deployment, dag_id: str, run_id: str, cell: Cell) -> CellDetails:
    """The tries of the task instance of a cell, and why it is as it is. Raises `NotFound`."""
    reference = task_reference(cell.key.id, cell.key.map_path)
    found = tasks.tries(deployment, dag_id, run_id, reference)
    return CellDetails(cell, found, why.why(deployment, dag_id, run_id, reference))


def describe(model: GridModel, details: CellDetails | None) -> Text:
    """Two lines about the cell under the cursor; `details` once they are read."""
    cell, column = model.cell, model.current
    if cell is None or column is None:
        return Text("no run yet" if not model.width else "no task fits the filter", "dim")
    run = column.run
    took = seconds(run)
    ended = f", took {duration_text(took)}" if took is not None else ""
    state = state_of(model.code)
    text = Text(no_wrap=True, overflow="ellipsis")
    word = state.value if state else "not in this version"
    text.append(f"{mark_of(word)} {word}" if state else word, style_of(word))
    text.append(f"  {printable(task_reference(cell.key.id, cell.key.map_path))}", "bold")
    date = run.logical_date.astimezone(ZoneInfo(model.columns.timezone))
    parts = [f"{date:%F %R}", run.run_type, f"run {run.state}{ended}", f"version {run.version}"]
    text.append(_APART + _APART.join(parts), "dim")
    text.append("\n" + _second_line(model, cell, column.mapped, details))
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
    parts = [_of_try(details.tries)] if details.tries.tries else []
    zone = ZoneInfo(details.answer.timezone)
    parts += [printable(brief(reason.text(zone))) for reason in details.answer.reasons[:1]]
    return _APART.join(parts)


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
        said += f" took {duration_text((last.ended_at - last.started_at).total_seconds())}"
    return f"{said} on {printable(last.worker)}"
