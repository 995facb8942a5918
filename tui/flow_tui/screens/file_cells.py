"""How a DAG file is shown that cannot be imported."""

from __future__ import annotations

from flow.store.read.dags import FileError
from flow_tui.widgets.fitting import Cell, Piece


def place(one: FileError) -> Cell:
    """Its name without its folder, and the line."""
    name = one.file.rpartition("/")[2]
    return [Piece(name, "bold"), Piece(f":{one.line}" if one.line else "", "dim")]
