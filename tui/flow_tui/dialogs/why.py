"""Why something does not move, or ended so: what `flow why` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from flow.errors import FlowError
from flow.ops import why
from flow.wording.why import describe
from flow_tui.deeds import command
from flow_tui.targets import Target

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment
    from flow_tui.app import FlowApp


class WhyDialog(ModalScreen[None]):
    """The answer about one thing."""

    DEFAULT_CSS = """
    WhyDialog > VerticalScroll {
        width: 90%; max-width: 120; height: auto; max-height: 90%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,w,enter,backspace", "dismiss", show=False),
        Binding("y", "copy", show=False),
    ]

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target
        self.command = command("why", *target.words)

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = self.command
            box.border_subtitle = "y copies the command"
            yield Static("looking …")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        self.run_worker(self._ask())

    async def _ask(self) -> None:
        try:
            lines = await cast("FlowApp", self.app).session.read(self._answer)
        except FlowError as error:
            lines = [error.message, error.hint]
        self.query_one(Static).update(Text("\n".join(lines)))

    def _answer(self, deployment: Deployment) -> list[str]:
        return describe(why.why(deployment, *self.target.words))

    def action_copy(self) -> None:
        """Copy the command."""
        self.app.copy_to_clipboard(self.command)
        self.notify("copied", timeout=2)
