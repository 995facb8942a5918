"""How events are listed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from flow.store.read.events import Event
from flow.wording.cells import text_of
from flow_tui.looks import style_of
from flow_tui.widgets.table import Column, Piece

EVENT_COLUMNS: Final = (
    Column[Event]("at", lambda one: text_of(one.at)),
    Column[Event]("what", lambda one: one.kind),
    Column[Event]("task", lambda one: one.task_id or "", rank=2),
    Column[Event]("state", lambda one: Piece(one.state or "", style_of(one.state or "")), rank=1),
    Column[Event]("try", lambda one: str(one.try_number or ""), rank=4, right=True),
    Column[Event]("who", lambda one: one.who or "", rank=5),
    Column[Event]("detail", lambda one: one.detail or "", rank=3, widest=80),
)


def event_key(one: Event) -> Hashable:
    """Which event it is: itself, its list of indexes made a tuple."""
    return one._replace(map_index=None), tuple(one.map_index or ())
