"""Which of the tasks that may go start now: by priority, as far as slots reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from flow.errors import UsageError
from flow.graph import Graph
from flow.ops.rehearsal.part import Part
from flow.states import TaskState


def admit(parts: Iterable[Part], room: int, pools: Mapping[str, int]) -> list[Part]:
    """Ready tasks, at most `room`. `pools` are slots by pool; one that is not named has no limit.

    A task that needs more slots than its pool has free is passed over.
    """
    taken: Counter[str] = Counter()
    ready = []
    for part in parts:
        if part.state is TaskState.RUNNING:
            taken[part.spec.pool] += part.spec.pool_slots
        elif part.state is TaskState.SCHEDULED:
            ready.append(part)
    ready.sort(key=lambda part: -part.spec.priority)
    admitted: list[Part] = []
    for part in ready:
        pool, slots = part.spec.pool, part.spec.pool_slots
        if len(admitted) < room and (pool not in pools or taken[pool] + slots <= pools[pool]):
            taken[pool] += slots
            admitted.append(part)
    return admitted


def check_slots(graph: Graph, pools: Mapping[str, int]) -> None:
    """Raise `UsageError` for a task that needs more slots than its pool has."""
    for task in graph.spec.tasks:
        slots = pools.get(task.pool)
        if task.runs_code and slots is not None and task.pool_slots > slots:
            raise UsageError(
                f"{task.task_id} needs {task.pool_slots} slots of pool {task.pool}, "
                f"which has {slots}, so it would never start",
                f"give it more with --pool {task.pool}={task.pool_slots}, or select other tasks",
            )
