"""What an action would do, the command that does the same, and the question whether to do it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Static

from flow.errors import Conflict, FlowError
from flow.wording.cells import printable
from flow_tui.action import Action, Danger
from flow_tui.background import start
from flow_tui.deeds.deed import Deed, Plan
from flow_tui.dialogs.dialog import Dialog
from flow_tui.movements import moves
from flow_tui.sentences import of_error
from flow_tui.targets import Target
from flow_tui.widgets.hanging import Hanging


class PlanDialog(Dialog[list[str] | None]):
    """Ends with what was done, in words, or None.

    Whatever it does it has shown before. A dangerous action defaults to Cancel; when something else
    would be done by now than was shown, it shows that instead, and asks again.
    """

    DEFAULT_CSS = """
    PlanDialog > .box { max-width: 110; }
    PlanDialog.destroy > .box { border: round $error; }
    PlanDialog #command { color: $accent; height: auto; max-height: 6; }
    PlanDialog #plan { height: auto; margin: 1 0; scrollbar-size-vertical: 1; }
    PlanDialog #question { height: auto; text-style: bold; }
    PlanDialog #buttons { height: 1; align-horizontal: right; }
    PlanDialog #buttons Button {
        margin-left: 2; min-width: 12; border: none;
        background: $panel; color: $text; text-style: none;
    }
    PlanDialog #buttons Button:focus { background: $primary; color: $background; text-style: bold; }
    PlanDialog #buttons Button:disabled { color: $text-disabled; }
    PlanDialog.destroy #buttons #do:focus { background: $error; }
    PlanDialog:ansi #buttons Button:focus {
        background: $block-cursor-background; color: $block-cursor-foreground;
        text-style: $block-cursor-text-style;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "cancel", show=False),
        moves("move.left", "app.focus_previous"),
        moves("move.right", "app.focus_next"),
        moves("move.down", "scroll(1)"),
        moves("move.up", "scroll(-1)"),
    ]

    def __init__(self, action: Action, targets: Sequence[Target]) -> None:
        super().__init__(classes=action.danger.value)
        self.action = action
        self.targets = targets
        self._deeds: list[Deed] = []
        self._plans: list[Plan] = []

    # ── for subclasses ───────────────────────────────────────────────────────────────────────────

    def choices(self) -> ComposeResult:
        """Widgets with which somebody chooses what exactly is done."""
        yield from ()

    def deeds(self) -> list[Deed]:
        """What is to be done, as it is chosen now. Raises `FlowError` for what cannot be meant."""
        assert self.action.make is not None
        return self.action.make(self.targets)

    def first_focus(self) -> str:
        """What has the focus before somebody moves it."""
        return "#cancel"

    # ── looking ──────────────────────────────────────────────────────────────────────────────────

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            box.border_title = self.action.verb
            box.border_subtitle = f"{self.COPY_KEY} copies the command · esc closes"
            yield from self.choices()
            yield Static(id="command")
            with VerticalScroll(id="plan", can_focus=False):
                yield Static("looking …", id="lines")
            yield Static(id="question")
            with Horizontal(id="buttons"):
                yield Button(self._otherwise, id="cancel", compact=True)
                yield Button(
                    self.action.verb.capitalize(),
                    id="do",
                    compact=True,
                    disabled=True,
                )

    def on_mount(self) -> None:
        self.query_one(self.first_focus()).focus()
        self.look()

    @property
    def _otherwise(self) -> str:
        """What stands beside the verb, and is not taken for it."""
        return "Do nothing" if self.action.verb.startswith("cancel") else "Cancel"

    def on_resize(self) -> None:
        # A share of the screen, counted here: Textual leaves lines empty below the question if the
        # style sheet says it.
        self.query_one("#plan").styles.max_height = max(3, self.size.height * 3 // 10)

    def look(self) -> None:
        """Show what would be done now."""
        self.query_one("#do", Button).disabled = True
        try:
            self._deeds = self.deeds()
        except FlowError as error:
            self._deeds, self._plans = [], []
            self._tell("\n".join(of_error(error)))
            return
        self.query_one("#command", Static).update(Hanging(Text("\n".join(self.commands))))
        start(self, self._look, group="look", exclusive=True)

    @property
    def commands(self) -> Sequence[str]:
        return [deed.command for deed in self._deeds]

    async def _look(self, said: str = "") -> None:
        session = self.flow.session
        try:
            plans = [await session.change(deed.look) for deed in self._deeds]
        except FlowError as error:
            self._plans = []
            self._tell("\n".join(of_error(error)))
            return
        self._plans = plans
        lines = [said, *(line for plan in plans for line in plan.lines)]
        questions = [plan.question for plan in plans if plan.question]
        self._tell("\n".join(line for line in lines if line), "\n".join(questions))
        button = self.query_one("#do", Button)
        button.disabled = not any(plan.carry_out for plan in plans)
        if self.action.danger is not Danger.DESTROY and not button.disabled:
            self.default_focus(button)

    def default_focus(self, button: Button) -> None:
        """What Enter does at first, of an action that another one undoes."""
        button.focus()

    def _tell(self, text: str, question: str = "") -> None:
        lines = "\n".join(map(printable, text.splitlines()))
        self.query_one("#lines", Static).update(Hanging(Text(lines)))
        self.query_one("#question", Static).update(Text(question))

    # ── doing ────────────────────────────────────────────────────────────────────────────────────

    @on(Button.Pressed, "#cancel")
    def action_cancel(self) -> None:
        """Do nothing."""
        self.dismiss(None)

    @on(Button.Pressed, "#do")
    def do(self) -> None:
        """Do it, once."""
        self.query_one("#do", Button).disabled = True
        start(self, self._do, group="do")

    async def _do(self) -> None:
        session = self.flow.session
        told: list[str] = []
        for plan in self._plans:
            if plan.carry_out is None:
                continue
            try:
                told += await session.change(plan.carry_out)
            except Conflict as error:
                before = f"done: {'; '.join(told)}\n" if told else ""
                await self._look(before + error.message)
                return
            except FlowError as error:
                before = f"done before that: {'; '.join(told)}\n" if told else ""
                self._tell(before + "\n".join(of_error(error)))
                return
        self.dismiss(told)

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────

    def action_scroll(self, by: int) -> None:
        """Scroll a long plan."""
        self.query_one("#plan", VerticalScroll).scroll_relative(y=by, animate=False)
