"""What somebody who runs `flow demo` sees meanwhile, on stderr: a grid that fills, or lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flow.states import FINISHED, TaskState
from flow_cli.output import Output

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.table import Table

    from flow.ops.demo import Audience, Scene
    from flow.ops.grid import Grid

_MARKS = {
    TaskState.NONE: ("·", "dim"),
    TaskState.SCHEDULED: ("○", "dim"),
    TaskState.QUEUED: ("○", ""),
    TaskState.RUNNING: ("▶", "cyan"),
    TaskState.SUCCESS: ("■", "green"),
    TaskState.SKIPPED: ("▫", "magenta"),
    TaskState.FAILED: ("✗", "red"),
    TaskState.UPSTREAM_FAILED: ("✗", "dim red"),
    TaskState.UP_FOR_RETRY: ("↻", "yellow"),
}
_OTHER = ("?", "yellow")


@contextmanager
def screen(printer: Output) -> Iterator[Audience]:
    """The audience for this command's stderr."""
    if not printer.err.isatty():
        yield Lines(printer)
        return
    from rich.live import Live

    from flow_cli.terminal import console_on

    console = console_on(printer.err)
    with Live(console=console, auto_refresh=False) as live:
        yield LiveGrid(console, live)


class Lines:
    """A line for each thing that happened, and one for each task that ended."""

    def __init__(self, printer: Output) -> None:
        self._printer = printer
        self._told: set[tuple[str, str, str]] = set()

    def say(self, text: str) -> None:
        """Print it."""
        self._printer.message(text)

    def show(self, scene: Scene) -> None:
        """Print the ends that are new."""
        for grid in scene.grids:
            for column, run in enumerate(grid.runs):
                for task in grid.tasks:
                    state = task.states[column]
                    key = (grid.dag_id, run.run_id, task.task_id)
                    if state in FINISHED and key not in self._told:
                        self._told.add(key)
                        day = run.logical_date.date().isoformat()
                        self._printer.message(f"  {grid.dag_id}  {day}  {task.task_id}: {state}")


class LiveGrid:
    """The grids of all pipelines, drawn anew in place; what happened scrolls away above them."""

    def __init__(self, console: Console, live: Live) -> None:
        self._console = console
        self._live = live
        self._shown: Scene | None = None

    def say(self, text: str) -> None:
        """Print it above the grid."""
        self._console.print(text)

    def show(self, scene: Scene) -> None:
        """Draw the grids, if anything has changed."""
        if scene != self._shown:
            self._shown = scene
            self._live.update(_draw(scene), refresh=True)


def _draw(scene: Scene) -> Group:
    from rich.console import Group

    return Group(*(_table(grid) for grid in scene.grids))


def _table(grid: Grid) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(grid.dag_id)
    for run in grid.runs:
        table.add_column(f"{run.logical_date:%m-%d}", justify="center")
    for task in grid.tasks:
        marks = [_MARKS.get(state or TaskState.NONE, _OTHER) for state in task.states]
        table.add_row(task.task_id, *(Text(mark, style=style) for mark, style in marks))
    return table
