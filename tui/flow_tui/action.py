"""An action: what can be done to things of some kinds, by which key, at what danger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from flow_tui.deeds.deed import Deed
from flow_tui.targets import Kind, Target


class Danger(StrEnum):
    """What an action may cost."""

    NONE = "none"
    """It only looks."""
    CHANGE = "change"
    """It changes something that another action undoes."""
    DESTROY = "destroy"
    """It ends, replaces or removes something: the dialog defaults to Cancel."""


Make = Callable[[Sequence[Target]], list[Deed]]
Reason = Callable[[Sequence[Target]], str | None]
Commands = Callable[[Sequence[Target]], list[str]]


class Action(NamedTuple):
    """One line of the table.

    `key` is a key of Textual, several with commas. `kinds` are what it acts on; empty: on the app.
    `make` is what it does to them; None: the screen does it, with its method `action_…`.
    `reason` is why it is disabled for these targets, None if it is not. `says` are the `flow`
    commands that do or show the same, where `make` does not tell them; None: there are none.
    """

    id: str
    key: str
    verb: str
    help: str
    kinds: frozenset[Kind] = frozenset()
    danger: Danger = Danger.NONE
    make: Make | None = None
    reason: Reason | None = None
    in_footer: bool = False
    many: bool = True
    """Whether it takes several targets at once."""
    says: Commands | None = None

    @property
    def changes(self) -> bool:
        """Whether it changes something, so that `--read-only` forbids it."""
        return self.danger is not Danger.NONE

    def commands(self, targets: Sequence[Target]) -> list[str]:
        """The `flow` commands that do or show the same to these; of what is only seen here, none.

        Targets for which it is unfit cannot be named.
        """
        if self.make is not None:
            return [deed.command for deed in self.make(targets)]
        return self.says(targets) if self.says is not None else []

    def disabled(self, targets: Sequence[Target], *, read_only: bool) -> str | None:
        """Why it cannot be done to these targets now; None: it can."""
        if self.changes and read_only:
            return "this terminal UI is read-only"
        return self.unfit(targets) or (self.reason(targets) if self.reason else None)

    def takes(self, targets: Sequence[Target]) -> bool:
        """Whether it is for things of these kinds."""
        return not self.kinds or {target.kind for target in targets} <= self.kinds

    def unfit(self, targets: Sequence[Target]) -> str | None:
        """Why it is not for such targets at all; None: it is."""
        if self.kinds and not targets:
            return "nothing is selected"
        if not self.takes(targets):
            return f"not for a {targets[0].kind}"
        if len(targets) > 1 and not self.many:
            return "one at a time"
        return None
