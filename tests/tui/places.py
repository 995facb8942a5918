"""Every place of the terminal UI, and the way there, in a night that `hostile` has spoilt."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from driving import until
from hostile import PATH
from textual.pilot import Pilot

from flow_tui import targets
from flow_tui.targets import Kind, Target
from flow_tui.view import View

RUN: Final = "manual__2026-07-08T06:00:00+00:00"
"""A run of the night that has failed."""


class Place(NamedTuple):
    """A screen or dialog by the name of its class; `opened` first, then its keys pressed there."""

    name: str
    opened: Target | None = None
    keys: tuple[str, ...] = ()
    changes: bool = False
    """Whether it is where something is changed, so that nobody comes there who only looks."""
    panes: int = 0
    """How many panes it has beside the one on which it opens."""


_DAG: Final = targets.dag("sales")
_FAILED: Final = targets.run("sales", RUN, "failed")
_TASK: Final = targets.task("sales", RUN, "load", "failed")
PLACES: Final = (
    Place("HomeScreen"),
    Place("DagsScreen", keys=("2",)),
    Place("BackfillsScreen", keys=("3",)),
    Place("PoolsScreen", keys=("4",)),
    Place("RolesScreen", keys=("5",)),
    Place("ErrorsScreen", keys=("6",)),
    Place("AuditScreen", keys=("7",)),
    Place("GridScreen", _DAG),
    Place("RunScreen", _FAILED, panes=5),
    Place("TaskScreen", _TASK, panes=5),
    Place("BackfillScreen", Target(Kind.BACKFILL, ("1",))),
    Place("PoolScreen", Target(Kind.POOL, ("warehouse",))),
    Place("FileScreen", Target(Kind.FILE, (PATH,))),
    Place("KeysDialog", _TASK, ("question_mark",)),
    Place("PaletteDialog", _TASK, ("colon",)),
    Place("DetailsDialog", _DAG, ("d",)),
    Place("WhyDialog", _DAG, ("w",)),
    Place("SearchDialog", _TASK, ("slash",)),
    Place("PlanDialog", _DAG, ("R",), changes=True),
    Place("ClearDialog", _TASK, ("C",), changes=True),
    Place("BackfillDialog", _FAILED, ("right_square_bracket", "B"), changes=True),
)


def begin_anew(pilot: Pilot[Any]) -> None:
    """Leave what has been opened, whatever it is, for Home."""
    app = pilot.app
    app.workers.cancel_node(app.screen)
    for mode in app.MODES:
        if mode in app._screen_stacks:
            app.switch_mode(mode)
            while len(app.screen_stack) > 1:
                app.pop_screen()
    app.switch_mode("home")


async def visit(pilot: Pilot[Any], place: Place) -> None:
    """Go there from anywhere, and wait until what can be read there stands there."""
    app = pilot.app
    begin_anew(pilot)
    if place.opened is not None:
        app.open(place.opened)
        await until(pilot, lambda: is_read(app.screen), f"what {place.opened} shows")
    await pilot.press(*place.keys)
    if not (place.changes and app.session.read_only):
        await _until_read(pilot, place.name)


async def _until_read(pilot: Pilot[Any], name: str) -> None:
    def there() -> bool:
        screen = pilot.app.screen
        return type(screen).__name__ == name and is_read(screen)

    await until(pilot, there, name)


def is_read(screen: object) -> bool:
    """Whether a screen has been read once; a dialog has nothing to wait for."""
    return not isinstance(screen, View) or screen._loaded
