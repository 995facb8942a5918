"""`Decision`: what is to be written about a run, or looked up before that can be said."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from flow.decide.reason import Code, Reason
from flow.states import RunState, TaskState


class TaskChange(NamedTuple):
    """One transition to write, as a compare-and-set on `expected`."""

    task_id: str
    expected: TaskState
    state: TaskState
    reason: str | None = None
    code: Code | None = None
    """Of the reason, where `flow why` explains it further."""


class TaskStop(NamedTuple):
    """A task whose process is to end. Who runs it reports it as skipped once it is dead."""

    task_id: str
    reason: str


@dataclass(slots=True)
class Decision:
    """What to write, and what to look up when that could not be decided."""

    changes: list[TaskChange] = field(default_factory=list)
    verdict: RunState | None = None
    """The run is over, and so."""
    reason: str | None = None
    """Why the verdict is what it is, when the leaves do not say it."""
    closed: dict[str, Reason] = field(default_factory=dict)
    """Tasks that stay in state none though their trigger rule lets them go, and what holds them."""
    waits: list[tuple[str | None, datetime]] = field(default_factory=list)
    """When to look again: waiting tasks among those looked at that are not due yet, and None for
    the whole run."""
    stops: list[TaskStop] = field(default_factory=list)
    """Running tasks that have to end before the run can."""
    requeue: bool = False
    """Nothing can go before the previous run, which has not started: this one makes room for it."""
    unseen: frozenset[str] = frozenset()
    """States of these tasks are needed."""
    census: bool = False
    """It is needed whether other tasks of the run are unfinished (`View.unfinished`)."""
    everything: bool = False
    """A complete view is needed: the run seems to be over."""
    past: frozenset[str] = frozenset()
    """What the previous run has to say to these tasks is needed (`View.past`). In a fresh run
    everything else is decided all the same."""

    @property
    def undecided(self) -> bool:
        """Whether the caller has to look something up and ask again."""
        return bool(self.unseen or self.past) or self.census or self.everything
