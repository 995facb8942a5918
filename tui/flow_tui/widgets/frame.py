"""What stands around every screen: views and state of the deployment above, keys below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import RenderResult
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from flow.wording.cells import width_of
from flow.wording.layout import shortened
from flow.wording.run_names import brief
from flow_tui.action import Action
from flow_tui.actions import BY_ID

VIEWS = ("home", "dags", "backfills", "pools", "roles", "errors", "audit")
"""What the number keys open, in their order."""
_WITHIN: Final = " › "
_LEAST: Final = 8
"""Columns of the terminal below which no part of a path is shortened."""


class TopBar(Widget):
    """The views with their keys; on the right what kind of session it is."""

    DEFAULT_CSS = """
    TopBar { height: 1; background: $panel; color: $text-muted; }
    """
    view: reactive[str] = reactive("home")
    note: reactive[str] = reactive("")

    def render(self) -> RenderResult:
        narrow = self.size.width < 76
        bar = Text(no_wrap=True, overflow="crop")
        for number, view in enumerate(VIEWS, 1):
            here = view == self.view
            name = BY_ID[f"view.{view}"].verb
            if narrow and not here:
                name = name[:3]
            bar.append(f" {number}", "bold" if here else "")
            bar.append(f" {name} ", "bold reverse" if here else "")
        room = self.size.width - width_of(bar.plain) - width_of(self.note) - 1
        if self.note and room >= 0:
            bar.append(" " * room + self.note, "bold")
        return bar

    def on_click(self, event: events.Click) -> None:
        at = 0
        narrow = self.size.width < 76
        for view in VIEWS:
            name = BY_ID[f"view.{view}"].verb
            at += 4 + len(name[:3] if narrow and view != self.view else name)
            if event.x < at:
                self.app.call_later(self.app.run_action, f"act('view.{view}')")
                return


class Crumbs(Widget):
    """Where one is, from the view inwards, and what the screen says of it."""

    DEFAULT_CSS = """
    Crumbs { height: 1; background: $background; color: $text; padding: 0 1; }
    """
    path: reactive[tuple[str, ...]] = reactive(())
    told: reactive[str] = reactive("")

    def render(self) -> RenderResult:
        line = Text(no_wrap=True, overflow="ellipsis")
        for at, part in enumerate(_fitted(self.path, self.content_size.width)):
            if at:
                line.append(_WITHIN, "dim")
            line.append(part, "bold" if at == len(self.path) - 1 else "")
        if self.told:
            line.append(f"  {self.told}", "dim")
        return line


def _fitted(path: Sequence[str], room: int) -> list[str]:
    """The parts of a path; where they find no room, each as short as it can be told apart."""
    room -= len(_WITHIN) * (len(path) - 1)
    if sum(map(width_of, path)) > room:
        path = [brief(part) for part in path]
    widths = [width_of(part) for part in path]
    while sum(widths) > room and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    return [shortened(*part, symbols=True) for part in zip(path, widths, strict=True)]


class Banner(Widget):
    """What is wrong with the session itself: the database does not answer."""

    DEFAULT_CSS = """
    Banner { height: auto; max-height: 2; background: $error; color: $text;
             padding: 0 1; display: none; }
    """
    text: reactive[str] = reactive("", layout=True)

    def watch_text(self, text: str) -> None:
        self.display = bool(text)

    def render(self) -> RenderResult:
        return Text(self.text, "bold", overflow="fold")


class Hints(Widget):
    """The keys that matter here, forbidden ones greyed; each can be clicked."""

    DEFAULT_CSS = """
    Hints { height: 1; dock: bottom; background: $panel; color: $text-muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"hints--key", "hints--off"}

    class Pressed(Message):
        """Somebody clicked on an action."""

        def __init__(self, action: Action) -> None:
            super().__init__()
            self.action = action

    def __init__(self) -> None:
        super().__init__()
        self._shown: Sequence[tuple[str, Action, bool]] = ()
        self._places: list[tuple[int, Action]] = []

    def show(self, hints: Sequence[tuple[str, Action, bool]]) -> None:
        """Show keys with their actions, and whether these are allowed."""
        if hints != self._shown:
            self._shown = hints
            self.refresh()

    def render(self) -> RenderResult:
        line = Text(no_wrap=True, overflow="crop")
        self._places.clear()
        key_style = self.get_component_rich_style("hints--key", partial=True)
        for key, action, enabled in self._shown:
            if width_of(line.plain) + width_of(f" {key} {action.verb} ") > self.size.width:
                break
            line.append(f" {key} ", "bold" if enabled else "dim")
            line.append(f"{action.verb} ", key_style if enabled else "dim")
            self._places.append((width_of(line.plain), action))
        return line

    def on_click(self, event: events.Click) -> None:
        action = next((action for end, action in self._places if event.x < end), None)
        if action is not None:
            self.post_message(self.Pressed(action))
