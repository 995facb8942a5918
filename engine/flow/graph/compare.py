"""What differs between two specs of a DAG."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from flow.graph.spec import DagSpec, TaskSpec

_APART: Final = {"dag_id", "tasks", "groups", "timetable"}
"""Fields of a DAG that are compared in a way of their own."""


class FieldChange(NamedTuple):
    """A field with another value; values are as in JSON."""

    field: str
    before: Any
    after: Any


class TaskChanges(NamedTuple):
    """A task that both have, with other fields. What it waits for is told by edges."""

    task_id: str
    fields: list[FieldChange]


class Differences(NamedTuple):
    """What makes the second spec another one than the first. Edges are (upstream, downstream)."""

    fields: list[FieldChange]
    tasks_added: list[str]
    tasks_removed: list[str]
    tasks_changed: list[TaskChanges]
    edges_added: list[tuple[str, str]]
    edges_removed: list[tuple[str, str]]

    @property
    def any(self) -> bool:
        """Whether there is any difference."""
        return any(self)


def compare(before: DagSpec, after: DagSpec) -> Differences:
    """What differs; lists are in order of id, and fields in the order in which specs have them."""
    old = {task.task_id: task for task in before.tasks}
    new = {task.task_id: task for task in after.tasks}
    changed = [
        TaskChanges(task_id, fields)
        for task_id in sorted(old.keys() & new.keys())
        if (fields := _fields(old[task_id], new[task_id], {"upstream"}))
    ]
    was, now = _edges(before), _edges(after)
    return Differences(
        fields=[
            *_schedule(before, after),
            *_groups(before, after),
            *_fields(before, after, _APART),
        ],
        tasks_added=sorted(new.keys() - old.keys()),
        tasks_removed=sorted(old.keys() - new.keys()),
        tasks_changed=changed,
        edges_added=sorted(now - was),
        edges_removed=sorted(was - now),
    )


def _fields(
    before: DagSpec | TaskSpec, after: DagSpec | TaskSpec, without: set[str]
) -> list[FieldChange]:
    names = [name for name in before.__struct_fields__ if name not in without]
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in names)
    return [
        FieldChange(name, msgspec.to_builtins(one), msgspec.to_builtins(other))
        for name, one, other in pairs
        if one != other
    ]


def _schedule(before: DagSpec, after: DagSpec) -> list[FieldChange]:
    if before.timetable == after.timetable:
        return []
    return [FieldChange("schedule", before.timetable.words(), after.timetable.words())]


def _groups(before: DagSpec, after: DagSpec) -> list[FieldChange]:
    if before.groups == after.groups:
        return []
    was, now = ([group.group_id for group in spec.groups] for spec in (before, after))
    return [FieldChange("groups", was, now)]


def _edges(spec: DagSpec) -> set[tuple[str, str]]:
    return {(upstream, task.task_id) for task in spec.tasks for upstream in task.upstream}
