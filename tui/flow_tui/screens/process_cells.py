"""How a process is shown: whether it lives, what it does, where it is."""

from __future__ import annotations

from typing import Final

from flow.ops.status import ProcessStatus
from flow.wording.moments import length
from flow_tui.targets import Kind, Target
from flow_tui.widgets.table import Cell, Piece

_BAR: Final = 8


def key(one: ProcessStatus) -> tuple[str, str, int]:
    """What tells processes apart."""
    return one.process.role, one.process.host, one.process.pid


def target(one: ProcessStatus) -> Target:
    """The process as actions take it."""
    return Target(Kind.ROLE, tuple(map(str, key(one))))


def mark(one: ProcessStatus) -> Cell:
    """Whether it lives, as a symbol."""
    if not one.healthy:
        return Piece("✗", "bold red")
    return Piece("↓", "yellow") if one.process.draining else Piece("●", "green")


def state(one: ProcessStatus) -> Cell:
    """Whether it lives, as a word."""
    if not one.healthy:
        return Piece("silent", "bold red")
    return Piece("draining", "yellow") if one.process.draining else Piece("healthy", "green")


def slots(one: ProcessStatus) -> Cell:
    """Of a worker its slots in use."""
    process = one.process
    return f"{process.used}/{process.slots} slots" if process.role == "work" else ""


def slots_bar(one: ProcessStatus) -> Cell:
    """Of a worker its slots in use, as a bar and in numbers."""
    process = one.process
    if process.role != "work":
        return ""
    if not process.slots:
        return Piece("claims nothing", "dim")
    full = round(_BAR * process.used / process.slots)
    full = max(full, 1) if process.used else full
    return [
        Piece("█" * full, "green"),
        Piece("░" * (_BAR - full), "dim"),
        Piece(f" {process.used}/{process.slots}"),
    ]


def heard(one: ProcessStatus) -> Cell:
    """How long ago it was heard of."""
    age = max(0.0, one.process.heartbeat_age_s)
    return Piece(f"{length(age)} ago" if age >= 1 else "now", "" if one.healthy else "bold red")


def where(one: ProcessStatus) -> Cell:
    """Host and process."""
    return Piece(f"{one.process.host}:{one.process.pid}", "dim")
