"""Keys that move the cursor in lists, grids, logs and dialogs: a table beside that of the actions.

The widget with the focus does them, so they are no actions of a screen; their names and keys stand
here for whoever wants other ones. Home and End do what the widget does with them, and stay.
"""

from __future__ import annotations

from typing import Final

from textual.binding import Binding

from flow_tui.action import Action
from flow_tui.targets import Kind

_GRID: Final = frozenset({Kind.GRID})

MOVEMENTS: Final = (
    Action("move.up", "up,k", "up", "One up."),
    Action("move.down", "down,j", "down", "One down."),
    Action("move.left", "left,h", "left", "An older run, or the panel before."),
    Action("move.right", "right,l", "right", "A newer run, or the next panel."),
    Action("move.page_up", "pageup,ctrl+b,ctrl+u", "page up", "A screenful up."),
    Action("move.page_down", "pagedown,ctrl+f,ctrl+d", "page down", "A screenful down."),
    Action("move.first", "g", "first", "To the first line."),
    Action("move.last", "G", "last", "To the last line."),
    Action("sort.previous", "less_than_sign", "order", "Order rows by the column before."),
    Action("sort.next", "greater_than_sign", "order", "Order rows by the next column."),
    Action("sort.turn", "o", "turn", "Turn the order around."),
    Action("grid.oldest", "home", "oldest", "To the oldest run that is read.", _GRID),
    Action("grid.newest", "end", "newest", "To the newest run.", _GRID),
    Action("grid.range_up", "shift+up", "range up", "Select upwards.", _GRID),
    Action("grid.range_down", "shift+down", "range down", "Select downwards.", _GRID),
    Action("grid.range_left", "shift+left", "range left", "Select older runs.", _GRID),
    Action("grid.range_right", "shift+right", "range right", "Select newer runs.", _GRID),
)

_BY_ID: Final = {movement.id: movement for movement in MOVEMENTS}


def moves(id: str, action: str, keys: str | None = None) -> Binding:
    """The binding of a widget for a movement. `keys`: those that it has there instead."""
    movement = _BY_ID[id]
    return Binding(keys or movement.key, action, movement.verb, show=False, id=id)


LINES: Final = (
    moves("move.up", "move(-1)"),
    moves("move.down", "move(1)"),
    moves("move.page_up", "page(-1)"),
    moves("move.page_down", "page(1)"),
    moves("move.first", "edge(False)"),
    moves("move.last", "edge(True)"),
    Binding("home", "edge(False)", show=False),
    Binding("end", "edge(True)", show=False),
)
"""The bindings of whatever has lines one below the other: lists, logs, texts."""
