"""One run of a batch, with what was decided about it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from flow.decide import Decision, View
from flow.graph import Graph, TaskSpec
from flow.graph.index import prioritised
from flow.states import FINISHED


@dataclass(slots=True)
class DecidedRun:
    """One run with what was decided about it. Its row is locked by this transaction."""

    run_key: int
    dag_id: str
    graph: Graph
    view: View
    decision: Decision
    changed: Collection[str] | None
    """What the decision was about; None: anything."""
    paused: bool = False
    chained: bool = False
    past_key: int | None = None
    """The previous run that it has waited for so far."""
    backfill: bool = False
    priority: int = 0
    """Added to that of its tasks."""
    limited: bool = False
    """Its DAG has a limit over all its runs."""
    alone: bool = False
    """Its DAG has no other unfinished run."""
    held: Collection[str] = ()
    """Its tasks that somebody keeps from starting."""

    @property
    def limited_dag(self) -> bool:
        """Whether the DAG has a limit over all its runs: now, or in the version of this run."""
        return self.limited or self.graph.spec.concurrency is not None

    def spec(self, task_id: str) -> TaskSpec:
        """What is written of a task."""
        return prioritised(self.graph.tasks[task_id], self.priority)

    @property
    def limit(self) -> int | None:
        """The run's own limit of active tasks, where it can bind."""
        limit = self.graph.spec.max_active_tasks
        return limit if limit < len(self.graph.tasks) else None

    @property
    def waits_for(self) -> int | None:
        """The previous run that it waits for now. What is not in view may wait still."""
        before = self.view.past
        if self.decision.closed and before is not None:
            return before.run_key
        return None if self.view.complete else self.past_key

    @property
    def heeded(self) -> list[str | None]:
        """What the next run of the chain may be waiting for, of all that has ended; None: all."""
        if not self.chained:
            return []
        if self.changed is None or self.decision.verdict is not None or not self.graph.asks_past:
            return [None]
        ended = {change.task_id for change in self.decision.changes if change.state in FINISHED}
        return [
            *sorted(self.graph.heeded_by(ended | (set(self.changed) & self.graph.tasks.keys())))
        ]
