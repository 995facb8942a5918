"""Drawing a grid: a column for each run under its date, a line for each task, a symbol for a state.

Headings are the parts of the logical dates that tell the runs apart, stacked: month, day, and where
several runs share a day hour and minute. A symbol carries the state; its colour repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from flow_cli.cells import printable, width_of
from flow_cli.output import Format, Output
from flow_cli.records import plain
from flow_cli.states import LOOKS, Look

if TYPE_CHECKING:
    from flow.ops.grid import Grid

COLUMN = 3
LEGEND_GAP = "  "
ABSENT = Look(" ", " ", "")
"""The run's version did not have the task."""


class Piece(NamedTuple):
    """A text and its style."""

    text: str
    style: str = ""


Line = list[Piece]


def draw(printer: Output, grid: Grid) -> None:
    """Print a grid, or the JSON object that says the same."""
    if printer.format is not Format.TEXT:
        printer.lines([], json_of(grid))
        return
    if not printer.out.isatty():
        symbols = can_write_symbols(printer.out.encoding)
        printer.out.writelines(
            "".join(piece.text for piece in line).rstrip() + "\n"
            for line in lines(grid, len(grid.runs), symbols=symbols, width=None)
        )
    else:
        _draw_on_terminal(printer, grid)
    if not grid.runs:
        printer.message(f"DAG {grid.dag_id} has no run yet")


def lines(grid: Grid, shown: int, *, symbols: bool, width: int | None) -> list[Line]:
    """The grid with its `shown` newest runs; letters instead of symbols where they cannot be.

    The legend is broken at `width`.
    """
    seen = states_in(grid, shown)
    below = [[], *legend(seen, symbols, width)] if seen else []
    return [*rows(grid, shown, symbols=symbols), *below]


def rows(grid: Grid, shown: int, *, symbols: bool) -> list[Line]:
    """The grid without its legend."""
    runs = grid.runs[len(grid.runs) - shown :]
    zone = ZoneInfo(grid.timezone)
    name_width = names_width(grid)
    drawn = [
        [Piece(" " * name_width), *(Piece(f" {part:>2}", "dim") for part in parts)]
        for parts in headings([run.logical_date.astimezone(zone) for run in runs])
    ]
    drawn.append(
        [Piece(_pad("run", name_width), "bold"), *_cells([r.state for r in runs], symbols)]
    )
    for task in grid.tasks:
        states = task.states[len(grid.runs) - shown :]
        cells = _cells([state.value if state else None for state in states], symbols)
        drawn.append([Piece(_pad(printable(task.task_id), name_width)), *cells])
    return drawn


def states_in(grid: Grid, shown: int) -> set[str]:
    """The states that the `shown` newest runs and their tasks are in."""
    first = len(grid.runs) - shown
    of_tasks = {state.value for task in grid.tasks for state in task.states[first:] if state}
    return {run.state for run in grid.runs[first:]} | of_tasks


def headings(dates: Sequence[datetime]) -> list[list[str]]:
    """Rows of two-figure texts that tell the dates apart, coarsest first."""
    rows = [[f"{date:%m}" for date in dates], [f"{date:%d}" for date in dates]]
    for part in ("%H", "%M"):
        if len(set(zip(*rows, strict=True))) == len(dates):
            break
        rows.append([date.strftime(part) for date in dates])
    return rows if dates else []


def fitting(grid: Grid, width: int) -> int:
    """How many runs fit side by side; at least one."""
    return max(1, min(len(grid.runs), (width - names_width(grid)) // COLUMN))


def names_width(grid: Grid) -> int:
    """The width of the column of task ids; they are never cut."""
    return max([width_of("run"), *(width_of(printable(task.task_id)) for task in grid.tasks)])


def json_of(grid: Grid) -> dict[str, Any]:
    """The grid as one object; `states` of a task are in the order of `runs`."""
    runs = [
        {name: value for name, value in run._asdict().items() if name != "run_key"}
        for run in grid.runs
    ]
    return {"dag_id": grid.dag_id, "runs": runs, "tasks": plain(grid.tasks)}


def _draw_on_terminal(printer: Output, grid: Grid) -> None:
    from rich.text import Text

    from flow_cli.terminal import console_on

    console = console_on(printer.out)
    shown = fitting(grid, console.width) if grid.runs else 0
    symbols = can_write_symbols(printer.out.encoding)
    for line in lines(grid, shown, symbols=symbols, width=console.width):
        console.print(Text.assemble(*((piece.text, piece.style) for piece in line)))
    if shown < len(grid.runs):
        printer.message(f"showing {shown} of {len(grid.runs)} runs: the terminal is too narrow")


def _cells(states: Sequence[str | None], symbols: bool) -> Line:
    looks = [LOOKS[state] if state else ABSENT for state in states]
    return [Piece(f"  {look.symbol if symbols else look.letter}", look.style) for look in looks]


def legend(seen: set[str], symbols: bool, width: int | None) -> list[Line]:
    """What the symbols mean, each together with its word on one line."""
    drawn: list[Line] = [[]]
    used = 0
    for state, look in LOOKS.items():
        if state not in seen:
            continue
        mark = look.symbol if symbols else look.letter
        entry = [Piece(mark, look.style), Piece(f" {state}")]
        length = len(mark) + 1 + len(state)
        if drawn[-1] and width is not None and used + len(LEGEND_GAP) + length > width:
            drawn.append([])
            used = 0
        if drawn[-1]:
            drawn[-1].append(Piece(LEGEND_GAP))
            used += len(LEGEND_GAP)
        drawn[-1] += entry
        used += length
    return drawn


def _pad(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def can_write_symbols(encoding: str | None) -> bool:
    """Whether every symbol of a state exists in the encoding of a stream."""
    try:
        "".join(look.symbol for look in LOOKS.values()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
