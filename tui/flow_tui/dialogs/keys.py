"""What can be done here: every action of the screen with its key and its `flow` command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow_tui.action import Action
from flow_tui.dialogs.choose import Choice, ChooseDialog
from flow_tui.view import View

if TYPE_CHECKING:
    from flow_tui.app import FlowApp


class KeysDialog(ChooseDialog[Action]):
    """Ends with the action that somebody wants."""

    HEADING = "keys"
    PLACEHOLDER = "find an action"

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view

    def on_mount(self) -> None:
        self.offer(choices(self.flow, self._view))


def choices(flow: FlowApp, view: View) -> list[Choice[Action]]:
    """The actions of a screen, those for what is under the cursor first."""
    found = []
    for action in sorted(view.actions(), key=lambda one: not one.kinds):
        targets = view.targets_of(action)
        if targets and not action.takes(targets):
            continue
        off = action.disabled(targets, read_only=flow.session.read_only)
        key, commands = flow.key_of(action), view.commands_of(action)
        found.append(Choice(action, action.verb, action.help, key, commands, off))
    return found
