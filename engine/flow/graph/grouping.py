"""Tasks by their groups: inside what they stand, and an order in which people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from flow.graph.spec import GroupSpec, TaskSpec


class Placed(NamedTuple):
    """A task, and the ids of the groups it is inside, outermost first."""

    task: TaskSpec
    groups: tuple[str, ...]


def paths(groups: Iterable[GroupSpec]) -> Callable[[TaskSpec], tuple[str, ...]]:
    """What gives the ids of the groups that a task is inside, outermost first."""
    parents = {group.group_id: group.parent for group in groups}

    def path(task: TaskSpec) -> tuple[str, ...]:
        found: list[str] = []
        group = task.group
        while group is not None:
            found.insert(0, group)
            group = parents.get(group)
        return tuple(found)

    return path


def by_group(order: Sequence[TaskSpec], groups: Iterable[GroupSpec]) -> list[Placed]:
    """Tasks in the given order, but those of a group together where its first one stands."""
    path_of = paths(groups)
    place: dict[tuple[str, ...], int] = {}
    keyed: list[tuple[list[int], Placed]] = []
    for position, task in enumerate(order):
        path = path_of(task)
        key = [place.setdefault(path[: depth + 1], position) for depth in range(len(path))]
        keyed.append(([*key, position], Placed(task, path)))
    return [placed for _, placed in sorted(keyed, key=lambda pair: pair[0])]
