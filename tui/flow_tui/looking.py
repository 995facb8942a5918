"""Commands that print what the terminal UI shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flow_tui.action import Commands
from flow_tui.command import command
from flow_tui.targets import Kind, Target

_OPENED: Final[Mapping[Kind, tuple[str, ...]]] = {
    Kind.DAG: ("grid",),
    Kind.RUN: ("tasks", "list"),
    Kind.TASK: ("logs",),
    Kind.BACKFILL: ("backfills", "show"),
    Kind.POOL: ("pools", "show"),
    Kind.FILE: ("dags", "errors"),
}


def opened(target: Target) -> str:
    """What prints what the screen of a thing shows at first; of one that has a screen."""
    return command(*_OPENED[target.kind], *target.words)


def at_first(targets: Sequence[Target]) -> list[str]:
    """What prints what opening things shows: only the first one is opened."""
    return [opened(target) for target in targets[:1] if target.kind in _OPENED]


def at(*verb: str, words: int | None = None, options: Sequence[str] = ()) -> Commands:
    """A verb about the first thing; `words`: how many of those that name it, None for all."""

    def commands(targets: Sequence[Target]) -> list[str]:
        named = targets[0].words[:words] if targets else ()
        return [command(*verb, *named, *options)]

    return commands
