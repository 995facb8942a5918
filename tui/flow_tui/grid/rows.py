"""The rows of a grid: tasks under their groups, which fold, and instances of tasks that expand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from flow.ops.grid_window import GridRow

MapPath = tuple[int, ...]


class Kind(Enum):
    """What a row stands for."""

    GROUP = "group"
    TASK = "task"
    INSTANCE = "instance"


class RowKey(NamedTuple):
    """What a row is known by, wherever it stands."""

    kind: Kind
    id: str
    """Of the group, or of the task."""
    map_path: MapPath = ()
    """Of an instance of a mapped task."""


class Row(NamedTuple):
    """One row. `open` says whether it shows what is in it; None: there is nothing to show."""

    key: RowKey
    depth: int
    open: bool | None = None
    gone: bool = False
    """The latest version does not have it any more."""


@dataclass(slots=True)
class Branch:
    """A group with what is in it, in order; the one at the top is none and has id ""."""

    group_id: str = ""
    children: list[Branch | str] = field(default_factory=list)
    groups: dict[str, Branch] = field(default_factory=dict)

    def inside(self, path: Iterable[str]) -> Branch:
        """The branch of the groups of a path, made where it is missing."""
        branch = self
        for group_id in path:
            if group_id not in branch.groups:
                made = Branch(group_id)
                branch.groups[group_id] = made
                branch.children.append(made)
            branch = branch.groups[group_id]
        return branch

    def tasks(self) -> Iterator[str]:
        """The tasks in it, at any depth."""
        for child in self.children:
            if isinstance(child, str):
                yield child
            else:
                yield from child.tasks()


class View(NamedTuple):
    """What of a tree is shown, and how."""

    folded: Collection[str] = ()
    """Groups that do not show what is in them."""
    mapped: Collection[str] = ()
    """Tasks that have instances in one of the runs."""
    expanded: Mapping[str, Sequence[MapPath]] = {}
    """Mapped tasks that show their instances, and which they are."""
    text: str = ""
    """Only tasks with that in their ids, and all of a group with that in its own, folded or not."""


class Tree:
    """The tasks of a DAG by their groups: those of its latest version, then those that are gone."""

    def __init__(self, latest: Sequence[GridRow], others: Iterable[Sequence[GridRow]] = ()) -> None:
        self.top = Branch()
        self.gone: set[str] = set()
        known = {row.task_id for row in latest}
        for row in latest:
            self.top.inside(row.groups).children.append(row.task_id)
        for rows in others:
            for row in rows:
                if row.task_id not in known:
                    known.add(row.task_id)
                    self.gone.add(row.task_id)
                    self.top.inside(row.groups).children.append(row.task_id)
        self.above: dict[RowKey, tuple[RowKey, ...]] = dict(self._above(self.top, ()))
        """The groups that each task and group is inside, outermost first."""

    def rows(self, view: View) -> list[Row]:
        """What is shown, in order."""
        return list(self._rows(self.top, 0, view, view.text.casefold()))

    def groups(self) -> list[str]:
        """The ids of all groups."""
        return [key.id for key in self.above if key.kind is Kind.GROUP]

    def tasks_of(self, key: RowKey) -> list[str]:
        """The tasks that a row stands for."""
        if key.kind is not Kind.GROUP:
            return [key.id]
        path = [*(group.id for group in self.above.get(key, ())), key.id]
        return list(self.top.inside(path).tasks()) if key in self.above else []

    def _above(
        self, branch: Branch, path: tuple[RowKey, ...]
    ) -> Iterator[tuple[RowKey, tuple[RowKey, ...]]]:
        for child in branch.children:
            if isinstance(child, str):
                yield RowKey(Kind.TASK, child), path
            else:
                key = RowKey(Kind.GROUP, child.group_id)
                yield key, path
                yield from self._above(child, (*path, key))

    def _rows(self, branch: Branch, depth: int, view: View, text: str) -> Iterator[Row]:
        for child in branch.children:
            if isinstance(child, str):
                if text in child.casefold():
                    yield from self._of_task(child, depth, view)
                continue
            below = "" if text in child.group_id.casefold() else text
            inside = list(self._rows(child, depth + 1, view, below))
            if not inside:
                continue
            folded = child.group_id in view.folded and not text
            key = RowKey(Kind.GROUP, child.group_id)
            yield Row(key, depth, not folded, all(one.gone for one in inside))
            if not folded:
                yield from inside

    def _of_task(self, task_id: str, depth: int, view: View) -> Iterator[Row]:
        instances = view.expanded.get(task_id)
        is_open = instances is not None if task_id in view.mapped or instances else None
        gone = task_id in self.gone
        yield Row(RowKey(Kind.TASK, task_id), depth, is_open, gone)
        for path in instances or ():
            yield Row(RowKey(Kind.INSTANCE, task_id, path), depth + 1, None, gone)
