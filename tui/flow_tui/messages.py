"""Messages between the app, its screens and its widgets."""

from __future__ import annotations

from textual.message import Message

from flow_tui.targets import Target


class Open(Message):
    """Somebody wants to see a thing: the app pushes its screen."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target
