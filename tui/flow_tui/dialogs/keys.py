"""What can be done here: every action of the screen, with its key, found by a few letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flow_tui.actions import BY_ID, Action, for_kinds
from flow_tui.fuzzy import score
from flow_tui.view import View

if TYPE_CHECKING:
    from flow_tui.app import FlowApp


class KeysDialog(ModalScreen[Action | None]):
    """Ends with the action that somebody wants."""

    DEFAULT_CSS = """
    KeysDialog > Vertical {
        width: 90%; max-width: 96; height: 90%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    KeysDialog Input { border: none; height: 1; margin-bottom: 1; }
    KeysDialog OptionList { height: 1fr; border: none; background: $surface; }
    KeysDialog #about { height: 2; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", show=False),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view
        self._actions = sorted(for_kinds(view.KINDS), key=lambda one: not one.kinds)

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "keys"
            yield Input(placeholder="find an action")
            yield OptionList()
            yield Static(id="about")

    def on_mount(self) -> None:
        self._show("")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, letters: str) -> None:
        flow = cast("FlowApp", self.app)
        found = [
            (value, action)
            for action in self._actions
            if (value := score(letters, f"{action.verb} {action.help}")) is not None
        ]
        if letters:
            found.sort(key=lambda one: -one[0])
        options = self.query_one(OptionList)
        options.clear_options()
        for _, action in found:
            reason = action.disabled(
                self._view.targets_of(action), read_only=flow.session.read_only
            )
            line = Text.assemble(
                (f"{flow.key_of(action):>9}  ", "bold"),
                (f"{action.verb:<14}", "dim" if reason else ""),
                (f"  {reason or action.help}", "dim"),
            )
            options.add_option(Option(line, id=action.id))
        options.highlighted = 0 if found else None

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        action = BY_ID[str(event.option_id)]
        targets = self._view.targets()
        about = Text(action.help)
        if action.make is not None and targets and not action.unfit(targets):
            about.append("\n" + "; ".join(deed.command for deed in action.make(targets)), "bold")
        self.query_one("#about", Static).update(about)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            self.dismiss(BY_ID[str(options.get_option_at_index(options.highlighted).id)])

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(BY_ID[str(event.option_id)])

    def action_move(self, by: int) -> None:
        """Move through the list while the letters keep the focus."""
        options = self.query_one(OptionList)
        if by > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()
