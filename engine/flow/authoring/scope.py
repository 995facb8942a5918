"""Which DAG and which task group are open: what a task belongs to when it does not say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.authoring.dag import DAG
    from flow.authoring.group import TaskGroup

# A DAG file is imported by one thread of a process of its own, so plain lists are enough.
open_dags: list[DAG] = []
open_groups: list[TaskGroup] = []


def current_dag() -> DAG | None:
    """The DAG of the innermost `with DAG(…)`."""
    return open_dags[-1] if open_dags else None


def current_group(dag: DAG) -> TaskGroup:
    """The innermost open group of `dag`, or the group of the whole DAG."""
    for group in reversed(open_groups):
        if group.dag is dag:
            return group
    return dag.task_group
