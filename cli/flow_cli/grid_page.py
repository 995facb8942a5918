"""Drawing a grid: a column for each run under its date, a line for each task, a symbol for a state.

Headings are the parts of the logical dates that tell the runs apart, stacked: month, day, and where
several runs share a day hour and minute. Above them stands how long the runs took, below them by
whom they were made, if not by the schedule, and where another version of the DAG begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from flow.wording.bars import bars
from flow.wording.cells import printable, width_of
from flow.wording.grid import COLUMN, GONE, TYPE_MARKS, headings, longest, seconds, types, versions
from flow.wording.groups import INDENT, entered
from flow.wording.layout import padded, shortened
from flow.wording.looks import LOOKS, Look
from flow_cli.drawing import Line, Piece, Sheet, flowing, legend
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.grid import Grid, GridTask
    from flow.store.read.grid import GridRun

ABSENT: Final = Look(" ", " ", "")
"""The run's version did not have the task."""
_SHORTEST_NAME: Final = 24
_SHARE_OF_NAMES: Final = 3
"""Names take at most one part in so many of a terminal that is not narrow."""


def draw(grid: Grid, sheet: Sheet) -> list[Line]:
    """The grid with as many of its newest runs as there is room for, and a legend."""
    shown = fitting(grid, sheet)
    marks = _type_legend(_newest(grid, shown))
    below = [*legend(states_in(grid, shown), sheet), *flowing(marks, sheet.width)]
    return [*rows(grid, shown, sheet, whole=True), *([[]] if below else []), *below]


def rows(grid: Grid, shown: int, sheet: Sheet, *, whole: bool = False) -> list[Line]:
    """The grid with its `shown` newest runs, without its legend.

    `whole`: also how long runs took, by whom they were made, and their versions.
    """
    runs = _newest(grid, shown)
    width = names_width(grid, sheet)
    dates = [run.logical_date.astimezone(ZoneInfo(grid.timezone)) for run in runs]
    drawn = _durations(runs, width, sheet) if whole else []
    drawn += [_row("", width, [f"{part:>2}" for part in parts], "dim") for parts in headings(dates)]
    if whole:
        drawn += _origins(grid, shown, width)
    drawn.append([Piece(padded("run", width), "bold"), *_cells([run.state for run in runs], sheet)])
    inside: list[str] = []
    for task in grid.tasks:
        states = task.states[len(grid.runs) - shown :]
        if task.old and not any(states):
            continue
        for depth, group in entered(inside, task.groups):
            name = f"{INDENT * depth}{printable(group)}/"
            drawn.append([Piece(_fitted(name, width, sheet), "bold")])
        inside = task.groups
        cells = _cells([state.value if state else None for state in states], sheet)
        name = padded(_fitted(_name(task), width, sheet), width)
        drawn.append([Piece(name, "dim" if task.old else ""), *cells])
    return drawn


def states_in(grid: Grid, shown: int) -> set[str]:
    """The states that the `shown` newest runs and their tasks are in."""
    first = len(grid.runs) - shown
    of_tasks = {state.value for task in grid.tasks for state in task.states[first:] if state}
    return {run.state for run in grid.runs[first:]} | of_tasks


def fitting(grid: Grid, sheet: Sheet) -> int:
    """How many runs fit side by side; at least one, if there is any."""
    if sheet.width is None:
        return len(grid.runs)
    room = (sheet.width - names_width(grid, sheet)) // COLUMN
    return min(len(grid.runs), max(1, room))


def names_width(grid: Grid, sheet: Sheet) -> int:
    """The width of what stands left of the runs; on a terminal it leaves room for them."""
    names = map(_name, grid.tasks)
    widest = max(map(width_of, ["version", longest(grid.runs), *names]))
    if sheet.width is None:
        return widest
    return min(widest, max(_SHORTEST_NAME, sheet.width // _SHARE_OF_NAMES))


def _name(task: GridTask) -> str:
    return INDENT * len(task.groups) + printable(task.task_id) + (GONE if task.old else "")


def json_of(grid: Grid) -> dict[str, Any]:
    """The grid as one object; `states` of a task are in the order of `runs`."""
    runs = [
        {name: value for name, value in run._asdict().items() if name != "run_key"}
        for run in grid.runs
    ]
    return {"dag_id": grid.dag_id, "runs": runs, "tasks": plain(grid.tasks)}


def _newest(grid: Grid, shown: int) -> list[GridRun]:
    return grid.runs[len(grid.runs) - shown :]


def _durations(runs: Sequence[GridRun], width: int, sheet: Sheet) -> list[Line]:
    """Bars of the runs that have ended, the longest one's duration beside its top."""
    top = longest(runs)
    if not top:
        return []
    drawn = bars([seconds(run) for run in runs], symbols=sheet.symbols)
    names = [f"{top:>{width}}", *[""] * (len(drawn) - 1)]
    styles = [LOOKS[run.state].style for run in runs]
    return [
        [
            Piece(padded(name, width), "dim"),
            *(Piece(f"  {sign}", style) for sign, style in zip(signs, styles, strict=True)),
        ]
        for name, signs in zip(names, drawn, strict=True)
    ]


def _origins(grid: Grid, shown: int, width: int) -> list[Line]:
    """Who made the runs, if not the schedule, and where another version begins: if any of that."""
    runs = _newest(grid, shown)
    drawn = []
    made_by = types(runs)
    if any(made_by):
        drawn.append(_row("type", width, made_by, "dim"))
    if len({run.version for run in runs}) > 1:
        drawn.append(_row("version", width, versions(runs), "cyan"))
    return drawn


def _type_legend(runs: Sequence[GridRun]) -> list[Line]:
    made = {run.run_type for run in runs}
    return [
        [Piece(mark, "dim"), Piece(f" {run_type}")]
        for run_type, mark in TYPE_MARKS.items()
        if run_type in made
    ]


def _row(name: str, width: int, texts: Sequence[str], style: str) -> Line:
    cells = [Piece(f"{text:>{COLUMN}}", style) for text in texts]
    return [Piece(padded(name, width), "dim"), *cells]


def _cells(states: Sequence[str | None], sheet: Sheet) -> Line:
    looks = [LOOKS[state] if state else ABSENT for state in states]
    return [
        Piece(f"  {look.symbol if sheet.symbols else look.letter}", look.style) for look in looks
    ]


def _fitted(name: str, width: int, sheet: Sheet) -> str:
    return name if sheet.width is None else shortened(name, width, symbols=sheet.symbols)
