"""How much runs and waits, now and over the last minutes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import RenderResult
from textual.widget import Widget

from flow_tui.samples import Samples

if TYPE_CHECKING:
    from flow.ops.overview import Overview

_NAMES = ("running", "queued")
_STYLES = {"running": "bold blue", "queued": "cyan"}
_SYMBOLS = {"running": "▶", "queued": "◔"}


class Pulse(Widget):
    """A line for each: the number of tasks, and how it was."""

    DEFAULT_CSS = """
    Pulse { height: 2; padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._samples = {name: Samples() for name in _NAMES}
        self._now = dict.fromkeys(_NAMES, 0)

    def add(self, found: Overview, now: float) -> None:
        """Somebody has looked."""
        self._now = {"running": found.load.running_tasks, "queued": found.status.queue.queued}
        for name, number in self._now.items():
            self._samples[name].add(number, now)
        self.refresh()

    def render(self) -> RenderResult:
        lines = Text(no_wrap=True, overflow="crop")
        digits = max(len(f"{number:,}") for number in self._now.values())
        for name, number in self._now.items():
            head = f"{_SYMBOLS[name]} {name:<8}{number:>{digits},}  "
            line = self._samples[name].line(self.content_size.width - len(head), time.monotonic())
            lines.append(head, _STYLES[name]).append(f"{line}\n", _STYLES[name])
        return lines
