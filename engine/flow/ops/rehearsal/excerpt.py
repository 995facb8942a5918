"""A DAG reduced to some of its tasks."""

from __future__ import annotations

import msgspec

from flow.errors import UsageError
from flow.graph import DagSpec, Graph
from flow.ops.selection import Selected


def excerpt(graph: Graph, selected: Selected) -> DagSpec:
    """The selected tasks; one that is left out hands its own upstream tasks on.

    So the order of what stays is the order it has in the whole DAG. Raises `UsageError` for single
    instances of a mapped task.
    """
    for task_id, instances in selected.instances.items():
        if instances is not None:
            raise UsageError(
                f"{task_id}: single instances cannot be selected here", "name the task as a whole"
            )
    stands_for: dict[str, frozenset[str]] = {}
    kept = []
    for task_id in graph.order:
        task = graph.tasks[task_id]
        above = frozenset[str]().union(*(stands_for[one] for one in task.upstream))
        if task_id in selected.instances:
            kept.append(msgspec.structs.replace(task, upstream=tuple(sorted(above))))
            stands_for[task_id] = frozenset({task_id})
        else:
            stands_for[task_id] = above
    tasks = tuple(sorted(kept, key=lambda task: task.task_id))
    return msgspec.structs.replace(graph.spec, tasks=tasks)
