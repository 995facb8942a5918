"""`Graph`: a `DagSpec` with what deciding needs derived from it once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from heapq import heapify, heappop, heappush

import msgspec

from flow.graph.spec import (
    HIGHEST_PRIORITY,
    LOWEST_PRIORITY,
    DagSpec,
    TaskSpec,
    TriggerRule,
)


def starts_a_run(task: TaskSpec) -> bool:
    """Whether a task can be decided before anything has ended: roots, and rule `always`."""
    return not task.upstream or task.trigger_rule is TriggerRule.ALWAYS


def limits_itself(task: TaskSpec) -> bool:
    """Whether a task has a limit of its own, within a run or over all runs."""
    return task.max_active_tis_per_dagrun is not None or task.max_active_tis_per_dag is not None


def prioritised(task: TaskSpec, more: int) -> TaskSpec:
    """A task with so much more priority, as far as that goes."""
    if not more:
        return task
    priority = max(LOWEST_PRIORITY, min(HIGHEST_PRIORITY, task.priority + more))
    return msgspec.structs.replace(task, priority=priority)


def pools_of(spec: DagSpec) -> dict[str, int]:
    """The pools of a DAG's tasks, and the most slots that one of them takes there."""
    most: dict[str, int] = {}
    for task in spec.tasks:
        most[task.pool] = max(most.get(task.pool, 0), task.pool_slots)
    return most


def binding_run_limit(spec: DagSpec) -> int | None:
    """How many tasks of one run may be active, or None where there are no more than that."""
    return spec.max_active_tasks if spec.max_active_tasks < len(spec.tasks) else None


def head(spec: DagSpec) -> DagSpec | None:
    """What deciding a fresh run needs of a spec: all of it but the tasks that wait for others.

    The first decision of a run is the same for a spec and its head, and the head of 25 tasks is a
    tenth of it. None where that does not hold: without tasks, or when a task of the head may finish
    in the decision itself, so that what follows it is decided too.
    """
    first = tuple(task for task in spec.tasks if starts_a_run(task))
    if not first or not all(task.runs_code and not task.has_window for task in first):
        return None
    return msgspec.structs.replace(
        spec,
        tasks=tuple(msgspec.structs.replace(task, upstream=()) for task in first),
        groups=(),
        edge_labels={},
        doc_md=None,
    )


class Graph:
    """Adjacency of a checked `DagSpec`, by task id.

    Building it is linear in tasks and edges. Tasks that share the same upstream set and trigger
    rule share a `group` number: they wait for the same thing, so one evaluation answers for all of
    them (a dense layer of 100 × 100 costs 100 states, not 10,000).
    """

    def __init__(self, spec: DagSpec) -> None:
        self.spec = spec
        self.tasks: dict[str, TaskSpec] = {task.task_id: task for task in spec.tasks}
        downstream: dict[str, list[str]] = {task_id: [] for task_id in self.tasks}
        groups: dict[tuple[tuple[str, ...], TriggerRule], int] = {}
        self.group: dict[str, int] = {}
        for task in spec.tasks:
            for upstream in task.upstream:
                downstream[upstream].append(task.task_id)
            key = (task.upstream, task.trigger_rule)
            self.group[task.task_id] = groups.setdefault(key, len(groups))
        self.downstream: dict[str, tuple[str, ...]] = {k: tuple(v) for k, v in downstream.items()}

    @cached_property
    def starters(self) -> tuple[str, ...]:
        """Tasks that can be decided before anything has ended."""
        return tuple(task.task_id for task in self.spec.tasks if starts_a_run(task))

    @cached_property
    def windowed(self) -> frozenset[str]:
        """Tasks that some runs pass over."""
        return frozenset(task.task_id for task in self.spec.tasks if task.has_window)

    @cached_property
    def asks_past(self) -> frozenset[str]:
        """Tasks that depend on their past."""
        return frozenset(task.task_id for task in self.spec.tasks if task.depends_on_past)

    def heeded_by(self, task_ids: Iterable[str]) -> set[str]:
        """Tasks of the next run that wait for the end of one of `task_ids` in this run."""
        heeding = set()
        for task_id in task_ids:
            task = self.tasks[task_id]
            if task.depends_on_past:
                heeding.add(task_id)
            heeding.update(id for id in task.upstream if self.tasks[id].wait_for_downstream)
        return heeding

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Tasks without downstream tasks; their states are the verdict of a run."""
        return tuple(task_id for task_id, below in self.downstream.items() if not below)

    @cached_property
    def pools(self) -> dict[str, int]:
        """The pools of its tasks, and the most slots that one of them takes there."""
        return pools_of(self.spec)

    @cached_property
    def limits_tasks(self) -> bool:
        """Whether a task has a limit of its own, within a run or over all runs."""
        return any(limits_itself(task) for task in self.spec.tasks)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All task ids, upstream first; among equals in order of id."""
        missing = {task.task_id: len(task.upstream) for task in self.spec.tasks}
        ready = [task_id for task_id, count in missing.items() if count == 0]
        heapify(ready)
        order = []
        while ready:
            task_id = heappop(ready)
            order.append(task_id)
            for below in self.downstream[task_id]:
                missing[below] -= 1
                if missing[below] == 0:
                    heappush(ready, below)
        return tuple(order)

    @cached_property
    def rank(self) -> dict[str, int]:
        """Place of each task in `order`."""
        return {task_id: place for place, task_id in enumerate(self.order)}

    def upstream(self, task_id: str) -> tuple[str, ...]:
        """Direct upstream ids of a task."""
        return self.tasks[task_id].upstream

    def descendants(self, task_ids: Iterable[str]) -> set[str]:
        """Everything downstream of `task_ids`, at any distance."""
        return self._reach(task_ids, self.downstream.__getitem__)

    def ancestors(self, task_ids: Iterable[str]) -> set[str]:
        """Everything upstream of `task_ids`, at any distance."""
        return self._reach(task_ids, self.upstream)

    @staticmethod
    def _reach(start: Iterable[str], step: Callable[[str], tuple[str, ...]]) -> set[str]:
        found: set[str] = set()
        frontier = list(start)
        while frontier:
            for task_id in step(frontier.pop()):
                if task_id not in found:
                    found.add(task_id)
                    frontier.append(task_id)
        return found
