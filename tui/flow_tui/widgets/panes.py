"""Several panes in one place, with their names above; one is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult, RenderResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import ContentSwitcher


class PaneNames(Widget):
    """The names; a click shows the pane."""

    DEFAULT_CSS = """
    PaneNames { height: 1; color: $text-muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = set()
    shown: reactive[str] = reactive("")

    class Picked(Message):
        """Somebody wants to see a pane."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = names

    def render(self) -> RenderResult:
        line = Text(no_wrap=True, overflow="crop")
        for name in self.names:
            line.append(f" {name} ", "bold reverse" if name == self.shown else "")
            line.append(" ")
        return line

    def on_click(self, event: events.Click) -> None:
        at = 0
        for name in self.names:
            at += len(name) + 3
            if event.x < at:
                self.post_message(self.Picked(name))
                return


class Panes(Vertical):
    """Named widgets, of which one is seen and has the focus."""

    DEFAULT_CSS = """
    Panes { height: 1fr; }
    Panes ContentSwitcher { height: 1fr; }
    """

    class Shown(Message):
        """Another pane is seen."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, **panes: Widget) -> None:
        super().__init__()
        self._panes = panes
        self.shown = next(iter(panes))

    def compose(self) -> ComposeResult:
        names = PaneNames(tuple(self._panes))
        names.shown = self.shown
        yield names
        with ContentSwitcher(initial=f"pane-{self.shown}"):
            for name, widget in self._panes.items():
                widget.id = f"pane-{name}"
                yield widget

    def on_mount(self) -> None:
        self._panes[self.shown].focus()

    def on_pane_names_picked(self, message: PaneNames.Picked) -> None:
        self.show(message.name)

    def step(self, by: int) -> None:
        """Show the next or previous pane, around the ends."""
        names = list(self._panes)
        self.show(names[(names.index(self.shown) + by) % len(names)])

    def show(self, name: str) -> None:
        """Show a pane and give it the focus."""
        if name == self.shown:
            return
        self.shown = name
        self.query_one(PaneNames).shown = name
        self.query_one(ContentSwitcher).current = f"pane-{name}"
        self._panes[name].focus()
        self.post_message(self.Shown(name))
