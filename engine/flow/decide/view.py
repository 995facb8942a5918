"""`View`: the part of a run's state that one decision looks at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from flow.decide.past import Past
from flow.states import TaskState


class TaskFacts(NamedTuple):
    """What deciding needs of one task row."""

    state: TaskState
    due_at: datetime | None = None
    """When a waiting state (up_for_retry, up_for_reschedule) ends."""


NO_ROW = TaskFacts(TaskState.NONE)


@dataclass(frozen=True, slots=True)
class View:
    """States near what changed. A task that was looked up and has no row is in state `none`.

    `tasks` holds the rows found; `looked_up` the ids that were asked for (None: every task of the
    run was). `skips` holds, per successful task, the ids that its branch or short circuit chose to
    skip, for the whole run (such rows are few). `unfinished` says whether the run has any
    unfinished row; None: nobody asked. `past` is the previous run of the chain, likewise.
    """

    tasks: Mapping[str, TaskFacts] = field(default_factory=dict)
    looked_up: frozenset[str] | None = None
    skips: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unfinished: bool | None = None
    past: Past | None = None

    @property
    def complete(self) -> bool:
        """Whether every row of the run is in the view."""
        return self.looked_up is None

    def facts(self, task_id: str) -> TaskFacts:
        """Facts of a task that was looked up."""
        return self.tasks.get(task_id, NO_ROW)

    def missing(self, task_ids: Iterable[str]) -> set[str]:
        """Those of `task_ids` that were not looked up."""
        return set() if self.looked_up is None else set(task_ids) - self.looked_up
