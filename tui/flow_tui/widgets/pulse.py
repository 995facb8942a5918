"""How much runs and waits, now and over the last minutes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import RenderResult
from textual.widget import Widget

from flow_tui.looks import mark_of, style_of
from flow_tui.samples import Samples

if TYPE_CHECKING:
    from flow.ops.overview import Overview

_NAMES = ("running", "queued")


class Pulse(Widget):
    """A line for each: the number of tasks, and how it was."""

    DEFAULT_CSS = """
    Pulse { height: 2; padding: 0 1; }
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        super().__init__()
        self._clock = clock
        self._samples = {name: Samples() for name in _NAMES}
        self._now = dict.fromkeys(_NAMES, 0)

    def add(self, found: Overview) -> None:
        """Somebody has looked."""
        now = self._clock().timestamp()
        self._now = {"running": found.load.running_tasks, "queued": found.status.queue.queued}
        for name, number in self._now.items():
            self._samples[name].add(number, now)
        self.refresh()

    def render(self) -> RenderResult:
        now = self._clock().timestamp()
        lines = Text(no_wrap=True, overflow="crop")
        digits = max(len(f"{number:,}") for number in self._now.values())
        for name, number in self._now.items():
            head = f"{mark_of(name)} {name:<8}{number:>{digits},}  "
            line = self._samples[name].line(self.content_size.width - len(head), now)
            lines.append(f"{head}{line}\n", style_of(name))
        return lines
