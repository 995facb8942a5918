"""The screens: what is shown of a deployment, and of each kind of thing in it.

A screen is imported when it is opened: the first paint waits for no other one.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from textual.screen import Screen

from flow_tui.targets import Kind, Target

_SCREENS: Final = {
    Kind.DAG: ("flow_tui.screens.grid", "GridScreen"),
    Kind.RUN: ("flow_tui.screens.run", "RunScreen"),
    Kind.TASK: ("flow_tui.screens.task", "TaskScreen"),
    Kind.BACKFILL: ("flow_tui.screens.backfill", "BackfillScreen"),
    Kind.POOL: ("flow_tui.screens.pool", "PoolScreen"),
    Kind.FILE: ("flow_tui.screens.file", "FileScreen"),
}
"""The screen of each kind of thing; it takes the words that name it."""


def of(target: Target) -> Screen[Any]:
    """The screen of a thing."""
    module, name = _SCREENS[target.kind]
    made: Screen[Any] = getattr(import_module(module), name)(*target.words)
    return made


def view(name: str) -> Callable[[], Screen[Any]]:
    """What makes the screen of a view."""

    def make() -> Screen[Any]:
        module = import_module(f"flow_tui.screens.{name}")
        made: Screen[Any] = getattr(module, f"{name.capitalize()}Screen")()
        return made

    return make
