"""What all dialogs share: a box over the screen, and the commands that do the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

if TYPE_CHECKING:
    from flow_tui.app import FlowApp

T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """Lies over a screen, in a `.box` of its own, until it is answered or closed."""

    DEFAULT_CSS = """
    Dialog > .box {
        width: 90%; height: auto; max-height: 100%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    Dialog:ansi Input { text-style: underline; }
    Dialog:ansi Label { text-style: dim; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", show=False),
        Binding("ctrl+y", "copy", show=False, priority=True),
    ]
    COPY_KEY: ClassVar[str] = "y"
    """The one that is told: y is a letter where somebody types."""

    @property
    def flow(self) -> FlowApp:
        """The app, by its type."""
        return cast("FlowApp", self.app)

    @property
    def commands(self) -> Sequence[str]:
        """The `flow` commands that do or say the same."""
        return ()

    def action_copy(self) -> None:
        """Copy the commands."""
        if self.commands:
            self.flow.copy(self.commands)
