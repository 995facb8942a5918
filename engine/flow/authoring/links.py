"""From the dependencies as written, between tasks and groups, to edges between tasks.

A dependency on a group means: its first tasks wait, its last tasks are waited for. Which tasks
these are is decided when the file has been read, so `start >> group` may be written before the
group is filled. An empty group passes a dependency through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from flow.authoring.origin import Origin
from flow.errors import InvalidDag

if TYPE_CHECKING:
    from flow.authoring.group import TaskGroup
    from flow.authoring.operator import BaseOperator

    End: TypeAlias = BaseOperator | TaskGroup


class Link(NamedTuple):
    """One dependency as written."""

    upstream: End
    downstream: End
    label: str | None
    origin: Origin


class Edges:
    """Edges between the task ids of a DAG, and the labels on them."""

    def __init__(self, root: TaskGroup, links: list[Link]) -> None:
        self._units = _units(root)
        self._roots: dict[str, list[str]] = {}
        self._leaves: dict[str, list[str]] = {}
        self.upstream: dict[str, set[str]] = {unit: set() for unit in self._units[""]}
        self.downstream: dict[str, set[str]] = {unit: set() for unit in self._units[""]}
        self.labels: dict[tuple[str, str], str] = {}
        grouped: list[Link] = []
        for link in links:
            if link.upstream.is_group or link.downstream.is_group:
                grouped.append(link)
            else:
                self._add(link.upstream.node_id, link.downstream.node_id, link.label)
        # The first and last tasks of a group follow from the edges within it, so what is deeper
        # in the tree of groups is resolved first.
        for link in sorted(grouped, key=lambda link: -_depth_of_meeting(link)):
            for above in self._side(link.upstream, self._leaves, self.downstream):
                for below in self._side(link.downstream, self._roots, self.upstream):
                    self._add(above, below, link.label)
        for unit in sorted(self.upstream.keys() - root.dag.task_dict.keys()):
            self._pass_through(unit)

    @staticmethod
    def reach(start: Iterable[str], step: Mapping[str, set[str]]) -> set[str]:
        """Everything that can be reached from `start` in one direction."""
        found: set[str] = set()
        frontier = list(start)
        while frontier:
            new = step[frontier.pop()] - found
            found |= new
            frontier += new
        return found

    def _side(
        self, end: End, cache: dict[str, list[str]], inward: dict[str, set[str]]
    ) -> list[str]:
        """The units of `end` that have no edge within it in the direction of `inward`."""
        if not end.is_group:
            return [end.node_id]
        if end.node_id not in cache:
            units = self._units[end.node_id]
            members = set(units)
            cache[end.node_id] = [unit for unit in units if inward[unit].isdisjoint(members)]
        return cache[end.node_id]

    def _add(self, above: str, below: str, label: str | None) -> None:
        self.downstream[above].add(below)
        self.upstream[below].add(above)
        if label is not None:
            self.labels[above, below] = label

    def _pass_through(self, unit: str) -> None:
        """Replace an empty group by edges from what is above it to what is below it."""
        ups, downs = self.upstream.pop(unit) - {unit}, self.downstream.pop(unit) - {unit}
        for above in ups:
            self.downstream[above].discard(unit)
            for below in downs:
                into, out_of = self.labels.get((above, unit)), self.labels.get((unit, below))
                self._add(above, below, out_of or into)
            self.labels.pop((above, unit), None)
        for below in downs:
            self.upstream[below].discard(unit)
            self.labels.pop((unit, below), None)


def _units(root: TaskGroup) -> dict[str, list[str]]:
    """For each group (the root is ""), the ids of all tasks and of all empty groups within it.

    An empty group is its own only unit.
    """
    units: dict[str, list[str]] = {}

    def visit(group: TaskGroup) -> list[str]:
        found: list[str] = []
        for child in group.children.values():
            found += visit(child) if child.is_group else [child.node_id]  # type: ignore[arg-type]
        if not found and group is not root:
            found = [group.node_id]
        units[group.node_id] = found
        return found

    visit(root)
    return units


def _ancestry(end: End) -> list[int]:
    """The groups around `end` from the outside inwards, then `end`, by identity."""
    path = [id(end)]
    group = end.task_group
    while group is not None:
        path.append(id(group))
        group = group.task_group
    return path[::-1]


def _depth_of_meeting(link: Link) -> int:
    """How deep in the tree of groups the innermost group around both ends lies."""
    above, below = _ancestry(link.upstream), _ancestry(link.downstream)
    depth = next(
        (n for n, (one, other) in enumerate(zip(above, below, strict=False)) if one != other),
        min(len(above), len(below)),
    )
    if depth == min(len(above), len(below)):
        raise InvalidDag(
            f"{link.origin}: group and member cannot depend on each other: "
            f"{link.upstream.node_id!r} >> {link.downstream.node_id!r}",
            "a group depends on tasks and groups outside of it",
        )
    return depth
