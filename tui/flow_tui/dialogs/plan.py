"""What an action would do, the command that does the same, and the question whether to do it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from flow.errors import FlowError
from flow_tui.actions import Action, Danger
from flow_tui.deeds import Deed, Plan
from flow_tui.targets import Target

if TYPE_CHECKING:
    from flow_tui.app import FlowApp


class PlanDialog(ModalScreen[list[str] | None]):
    """Ends with what was done, in words, or None. A dangerous action defaults to Cancel."""

    DEFAULT_CSS = """
    PlanDialog > Vertical {
        width: 90%; max-width: 110; height: auto; max-height: 90%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    PlanDialog.destroy > Vertical { border: round $error; }
    PlanDialog #command { color: $accent; height: auto; }
    PlanDialog VerticalScroll { height: auto; max-height: 60vh; margin: 1 0; }
    PlanDialog Horizontal { height: auto; align-horizontal: right; }
    PlanDialog Button { margin-left: 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "cancel", show=False),
        Binding("left,h,shift+tab", "app.focus_previous", show=False),
        Binding("right,l", "app.focus_next", show=False),
        Binding("y", "copy", show=False),
    ]

    def __init__(self, action: Action, targets: Sequence[Target]) -> None:
        super().__init__(classes=action.danger.value)
        self.action = action
        self.targets = targets
        self._deeds: list[Deed] = []
        self._plans: list[Plan] = []

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self.action.verb
            box.border_subtitle = "y copies the command"
            yield Static(id="command")
            with VerticalScroll(can_focus=False):
                yield Static("looking …", id="plan")
            with Horizontal():
                yield Button("Cancel", id="cancel")
                yield Button(self.action.verb.capitalize(), id="do", disabled=True)

    def on_mount(self) -> None:
        self.query_one("#cancel").focus()
        self.look()

    def deeds(self) -> list[Deed]:
        """What is to be done, as it is chosen now."""
        assert self.action.make is not None
        return self.action.make(self.targets)

    def look(self) -> None:
        """Show what would be done now."""
        self._deeds = self.deeds()
        commands = "\n".join(deed.command for deed in self._deeds)
        self.query_one("#command", Static).update(Text(commands))
        self.run_worker(self._look(), group="look", exclusive=True)

    async def _look(self) -> None:
        session = cast("FlowApp", self.app).session
        button = self.query_one("#do", Button)
        button.disabled = True
        try:
            self._plans = [await session.change(deed.look) for deed in self._deeds]
        except FlowError as error:
            self._tell(f"{error.message}\n{error.hint}")
            return
        lines = [line for plan in self._plans for line in plan.lines]
        questions = [plan.question for plan in self._plans if plan.question]
        self._tell("\n".join([*lines, "", *questions] if questions else lines))
        button.disabled = not any(plan.carry_out for plan in self._plans)
        if self.action.danger is not Danger.DESTROY and not button.disabled:
            button.focus()

    def _tell(self, text: str) -> None:
        self.query_one("#plan", Static).update(Text(text))

    @on(Button.Pressed, "#cancel")
    def action_cancel(self) -> None:
        """Do nothing."""
        self.dismiss(None)

    @on(Button.Pressed, "#do")
    def do(self) -> None:
        """Do it, once."""
        self.query_one("#do", Button).disabled = True
        self.run_worker(self._do(), group="do")

    async def _do(self) -> None:
        session = cast("FlowApp", self.app).session
        told: list[str] = []
        try:
            for plan in self._plans:
                if plan.carry_out is not None:
                    told += await session.change(plan.carry_out)
        except FlowError as error:
            done = f"done before that:\n{chr(10).join(told)}\n\n" if told else ""
            self._tell(f"{done}{error.message}\n{error.hint}")
            return
        self.dismiss(told)

    def action_copy(self) -> None:
        """Copy the commands."""
        self.app.copy_to_clipboard("\n".join(deed.command for deed in self._deeds))
        self.notify("copied", timeout=2)
