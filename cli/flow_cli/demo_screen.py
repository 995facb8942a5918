"""What somebody who runs `flow demo` sees meanwhile, on stderr: a grid that fills, or lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flow.states import FINISHED
from flow.wording.looks import can_write_symbols
from flow_cli.drawing import Line, Piece, Sheet, legend
from flow_cli.grid_page import rows, states_in
from flow_cli.output import Output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from flow.ops.demo import Audience, Scene


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
        """Print it above the grids."""
        self._console.print(text)

    def show(self, scene: Scene) -> None:
        """Draw the grids, if anything has changed."""
        if scene != self._shown:
            self._shown = scene
            self._live.update(self._draw(scene), refresh=True)

    def _draw(self, scene: Scene) -> Text:
        from rich.text import Text

        sheet = Sheet(self._console.width, can_write_symbols(self._console.encoding))
        drawn: list[Line] = []
        seen: set[str] = set()
        for grid in scene.grids:
            drawn += [[Piece(grid.dag_id, "bold")], *rows(grid, len(grid.runs), sheet)]
            seen |= states_in(grid, len(grid.runs))
        drawn += legend(seen, sheet)
        return Text("\n").join(
            Text.assemble(*((piece.text, piece.style) for piece in line)) for line in drawn
        )
