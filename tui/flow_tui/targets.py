"""What an action acts on: named as the command line names it, with what the screen knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class Kind(StrEnum):
    """Kinds of things that screens show and actions take."""

    DAG = "dag"
    RUN = "run"
    TASK = "task"
    LOG = "log"
    PANES = "panes"
    GRID = "grid"
    BACKFILL = "backfill"
    POOL = "pool"
    ROLE = "role"
    FILE = "file"
    ENTRY = "entry"


class Target(NamedTuple):
    """One thing. `words` are the arguments that name it, outermost first.

    A DAG has one word, a run two, a task and its log three; a backfill has its number, a pool its
    name, a DAG file its path. `state` is its state; `flags` are what else holds for it ("paused",
    "held"). Of both, None means that the screen does not know, and then no action is disabled for
    it.
    """

    kind: Kind
    words: tuple[str, ...]
    state: str | None = None
    flags: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """Its words as people say them: sales/2026-10-09/load."""
        return "/".join(self.words)


_PLACEHOLDERS: Final[Mapping[Kind, tuple[str, ...]]] = {
    Kind.DAG: ("DAG",),
    Kind.RUN: ("DAG", "RUN"),
    Kind.TASK: ("DAG", "RUN", "TASK"),
    Kind.LOG: ("DAG", "RUN", "TASK"),
    Kind.BACKFILL: ("ID",),
}


def placeholder(kind: Kind) -> Target:
    """Any thing of a kind, named as the usage of a command does; without words where none does."""
    return Target(kind, _PLACEHOLDERS.get(kind, ()))


def dag(dag_id: str, *, paused: bool | None = None) -> Target:
    """A DAG."""
    return Target(Kind.DAG, (dag_id,), flags=_flags(paused=paused))


def run(
    dag_id: str, run_id: str, state: str | None = None, *, paused: bool | None = None
) -> Target:
    """A run."""
    return Target(Kind.RUN, (dag_id, run_id), state, _flags(paused=paused))


def task(
    dag_id: str,
    run_id: str,
    reference: str,
    state: str | None = None,
    *,
    held: bool | None = None,
) -> Target:
    """A task of a run; of a mapped one its index belongs to the reference."""
    return Target(Kind.TASK, (dag_id, run_id, reference), state, _flags(held=held))


def _flags(**known: bool | None) -> frozenset[str] | None:
    """Those that hold; None where it is not known."""
    if None in known.values():
        return None
    return frozenset(name for name, holds in known.items() if holds)
