"""Clearing: the choices of `flow clear`, and the plan that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult, RenderResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from flow_tui.action import Action
from flow_tui.deeds import clearing
from flow_tui.deeds.clearing import ClearOptions
from flow_tui.deeds.deed import Deed
from flow_tui.dialogs.plan import PlanDialog
from flow_tui.targets import Target

CHOICES: Final = (
    ("d", "downstream", "and what comes after"),
    ("u", "upstream", "and what comes before"),
    ("f", "only_failed", "only what failed"),
    ("v", "own_version", "keep each run's own version"),
)
"""Keys, the options that they turn, and what these mean."""


class Choices(Widget):
    """The options, each with its key; a click turns one."""

    DEFAULT_CSS = """
    Choices { height: auto; margin-bottom: 1; }
    """

    def __init__(self, dialog: ClearDialog) -> None:
        super().__init__()
        self._dialog = dialog

    def render(self) -> RenderResult:
        lines = Text()
        for at, (key, name, meaning) in enumerate(CHOICES):
            chosen = bool(getattr(self._dialog.options, name))
            lines.append("\n" if at else "")
            lines.append(f"{key} ", "bold")
            lines.append("[x] " if chosen else "[ ] ", "bold" if chosen else "")
            lines.append(meaning, "" if chosen else "dim")
        return lines

    def on_click(self, event: events.Click) -> None:
        if 0 <= event.y < len(CHOICES):
            self._dialog.action_turn(CHOICES[event.y][1])


class ClearDialog(PlanDialog):
    """Plan and command follow each choice."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"turn({name!r})", show=False) for key, name, _ in CHOICES
    ]

    def __init__(self, action: Action, targets: Sequence[Target]) -> None:
        super().__init__(action, targets)
        self.options = ClearOptions.suggested(targets)

    def choices(self) -> ComposeResult:
        yield Choices(self)

    def deeds(self) -> list[Deed]:
        return clearing.clear(self.targets, self.options)

    def action_turn(self, name: str) -> None:
        """Choose an option, or no more."""
        self.options = replace(self.options, **{name: not getattr(self.options, name)})
        self.query_one(Choices).refresh()
        self.look()
