"""Which verbs the `flow` command has."""

from __future__ import annotations

from collections.abc import Sequence

from flow_cli.application import root


def has_verb(words: Sequence[str]) -> bool:
    """Whether `flow WORDS…` is a command; what follows the name of a verb is its arguments."""
    command = root()
    for word in words:
        commands = getattr(command, "commands", None)
        if commands is None:
            return True
        if word not in commands:
            return False
        command = commands[word]
    return not hasattr(command, "commands")
