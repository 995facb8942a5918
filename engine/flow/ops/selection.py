"""Which tasks of a graph a text selects: ids, globs, `+a`, `a+`, `+a+`, several with commas.

`+a` adds everything upstream of `a`, `a+` everything downstream. The id of a group stands for its
tasks. `a[3]` is one instance of a mapped task.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from flow.errors import NotFound, UsageError
from flow.graph import Graph
from flow.graph.grouping import paths
from flow.ops.suggest import did_you_mean
from flow.ops.task_references import parse_task_reference

WILD: Final = frozenset("*?")
"""What makes a glob of a text that is no id."""


class Selected(NamedTuple):
    """Tasks, upstream first, and which instances of them: None is all."""

    instances: dict[str, frozenset[tuple[int, ...]] | None]

    def has(self, task_id: str, map_path: tuple[int, ...]) -> bool:
        """Whether an instance is selected."""
        wanted = self.instances.get(task_id, frozenset())
        return wanted is None or map_path in wanted


def select(graph: Graph, text: str) -> Selected:
    """What `text` selects. Raises `NotFound` for a part that selects nothing."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise UsageError("no task is selected", "name tasks, such as load or 'extract_*' or load+")
    found: dict[str, set[tuple[int, ...]] | None] = {}
    for part in parts:
        for task_id, map_path in _part(graph, part):
            known = found.setdefault(task_id, set())
            if map_path is None or known is None:
                found[task_id] = None
            else:
                known.add(map_path)
    return Selected(
        {
            task_id: None if (paths := found[task_id]) is None else frozenset(paths)
            for task_id in graph.order
            if task_id in found
        }
    )


def everything(graph: Graph) -> Selected:
    """All tasks."""
    return Selected(dict.fromkeys(graph.order))


def widen(graph: Graph, selected: Selected, *, upstream: bool, downstream: bool) -> Selected:
    """The same with everything upstream or downstream of it."""
    above = graph.ancestors(selected.instances) if upstream else set()
    below = graph.descendants(selected.instances) if downstream else set()
    return Selected(
        {
            task_id: None if task_id in above or task_id in below else selected.instances[task_id]
            for task_id in graph.order
            if task_id in selected.instances or task_id in above or task_id in below
        }
    )


def _part(graph: Graph, part: str) -> list[tuple[str, tuple[int, ...] | None]]:
    upstream, downstream = part.startswith("+"), part.endswith("+")
    core = part.removeprefix("+").removesuffix("+")
    if core.endswith("]") and not upstream and not downstream and not WILD & set(core):
        reference = parse_task_reference(core)
        return [(_known(graph, reference.task_id)[0], reference.map_index)]
    roots = _known(graph, core)
    chosen = set(roots)
    if upstream:
        chosen |= graph.ancestors(roots)
    if downstream:
        chosen |= graph.descendants(roots)
    return [(task_id, None) for task_id in chosen]


def _known(graph: Graph, name: str) -> list[str]:
    """The tasks that an id, the id of a group, or a glob names; at least one."""
    if name in graph.tasks:
        return [name]
    groups = {group.group_id for group in graph.spec.groups}
    if name in groups:
        path_of = paths(graph.spec.groups)
        found = [task_id for task_id, task in graph.tasks.items() if name in path_of(task)]
    elif WILD & set(name):
        found = [task_id for task_id in graph.tasks if fnmatchcase(task_id, name)]
    else:
        found = []
    if not found:
        names = [*graph.tasks, *groups]
        raise NotFound(
            f"DAG {graph.spec.dag_id!r} has no task {name!r}",
            did_you_mean(name, names, f"it has: {', '.join(sorted(graph.tasks)[:10])}"),
        )
    return found
