"""Other keys for actions and movements, as `[tui.keys]` in `flow.toml` has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from flow.errors import UsageError
from flow_tui.action import Action
from flow_tui.actions import ACTIONS
from flow_tui.movements import MOVEMENTS

_ALL: Final = {action.id: action for action in (*ACTIONS, *MOVEMENTS)}


class Keymap(NamedTuple):
    """Keys by the id of their action, of those that somebody has changed."""

    keys: Mapping[str, str]

    @classmethod
    def read(cls, wanted: Mapping[str, str]) -> Keymap:
        """Take what a file says. Raises `UsageError` for an action or a key that cannot be."""
        unknown = sorted(wanted.keys() - _ALL.keys())
        if unknown:
            raise UsageError(
                f"tui.keys names an action that does not exist: {unknown[0]}",
                "flow-tui(7) lists the actions with their names",
            )
        found = cls(dict(wanted))
        for action in _ALL.values():
            for other in _ALL.values():
                if action.id < other.id and found._clash(action, other):
                    raise UsageError(
                        f"tui.keys gives {action.id} and {other.id} the same key",
                        f"{action.id} has {found.of(action)}, {other.id} has {found.of(other)}",
                    )
        return found

    def of(self, action: Action) -> str:
        """The keys of an action, with commas."""
        return self.keys.get(action.id, action.key)

    def _clash(self, one: Action, other: Action) -> bool:
        """Whether a key that one of them has got does two things on the same screen."""
        if one.kinds and other.kinds and not one.kinds & other.kinds:
            return False
        both = _keys(self.of(one)) & _keys(self.of(other))
        return bool(both - (_keys(one.key) & _keys(other.key)))


def _keys(text: str) -> set[str]:
    return set(text.split(","))
