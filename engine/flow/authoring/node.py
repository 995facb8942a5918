"""What can stand beside `>>`: tasks, groups, results of tasks, lists of them, and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flow.authoring.links import Link
from flow.authoring.origin import Origin, caller
from flow.errors import InvalidDag

if TYPE_CHECKING:
    from flow.authoring.dag import DAG
    from flow.authoring.group import TaskGroup
    from flow.authoring.links import End
    from flow.authoring.operator import BaseOperator

T = TypeVar("T")


class Node:
    """Base of everything that can be upstream or downstream of something."""

    @property
    def end(self) -> BaseOperator | TaskGroup:
        """What a dependency of this node attaches to."""
        raise NotImplementedError

    def set_downstream(self, other: Any, edge_modifier: Label | None = None) -> None:
        """Let `other` (a node or a list of nodes) wait for this node."""
        link(self, other, edge_modifier)

    def set_upstream(self, other: Any, edge_modifier: Label | None = None) -> None:
        """Let this node wait for `other` (a node or a list of nodes)."""
        link(other, self, edge_modifier)

    def __rshift__(self, other: T) -> T:
        if isinstance(other, Label):
            return cast(T, other.below(self))
        link(self, other)
        return other

    def __lshift__(self, other: T) -> T:
        if isinstance(other, Label):
            return cast(T, other.above(self))
        link(other, self)
        return other

    def __rrshift__(self, other: Any) -> Any:
        link(other, self)
        return self

    def __rlshift__(self, other: Any) -> Any:
        link(self, other)
        return self


class Label:
    """Text on a dependency: `check >> Label("rows missing") >> alert`."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._upstream: Any = None
        self._downstream: Any = None

    def below(self, upstream: Any) -> Label:
        """A copy of this label, hanging below `upstream`."""
        return self._copy(upstream, None)

    def above(self, downstream: Any) -> Label:
        """A copy of this label, standing above `downstream`."""
        return self._copy(None, downstream)

    def _copy(self, upstream: Any, downstream: Any) -> Label:
        # A copy, so that one Label object can be used for several dependencies.
        copy = type(self)(self.label)
        copy._upstream, copy._downstream = upstream, downstream
        return copy

    def __rshift__(self, other: T) -> T:
        if self._upstream is None:
            raise _unattached(self)
        link(self._upstream, other, self)
        return other

    def __lshift__(self, other: T) -> T:
        if self._downstream is None:
            raise _unattached(self)
        link(other, self._downstream, self)
        return other

    def __rrshift__(self, other: Any) -> Label:
        return self.below(other)

    def __rlshift__(self, other: Any) -> Label:
        return self.above(other)

    def __repr__(self) -> str:
        return f"Label({self.label!r})"


def link(upstream: Any, downstream: Any, label: Label | None = None) -> None:
    """Make every node of `downstream` wait for every node of `upstream`.

    Raises `InvalidDag` when one of them is not a node, when they are of different DAGs, or when a
    node would wait for itself.
    """
    where = caller()
    text = label.label if label else None
    ends = list(_ends(downstream))
    for above in _ends(upstream):
        for below in ends:
            _common_dag(above, below, where).add_link(Link(above, below, text, where))


def _ends(nodes: Any) -> Iterator[End]:
    if isinstance(nodes, Sequence) and not isinstance(nodes, (str, bytes)):
        for node in nodes:
            yield from _ends(node)
    elif isinstance(nodes, Node):
        yield nodes.end
    else:
        raise InvalidDag(f"{caller()}: {nodes!r} cannot be in a dependency", _advice(nodes))


def _advice(thing: Any) -> str:
    if isinstance(thing, Label):
        return "a label stands between two tasks: a >> Label('…') >> b"
    if callable(thing):
        name = getattr(thing, "__name__", "it")
        return f"call the task function: write {name}() instead of {name}"
    return "use tasks, task groups, results of tasks, or lists of them"


def _common_dag(above: End, below: End, where: Origin) -> DAG:
    dags = {id(end.dag): end.dag for end in (above, below) if end.has_dag()}
    if len(dags) == 1:
        dag = next(iter(dags.values()))
        for end in (above, below):
            if not end.has_dag():
                dag.add_task(end)  # type: ignore[arg-type]  # a group always has a DAG
        if above is below:
            raise InvalidDag(
                f"{where}: {above.node_id!r} cannot wait for itself",
                "remove this dependency",
            )
        return dag
    if dags:
        names = " and ".join(f"{end.node_id!r} of DAG {end.dag.dag_id!r}" for end in (above, below))
        raise InvalidDag(
            f"{where}: {names} cannot depend on each other",
            "both ends of a dependency must belong to the same DAG",
        )
    raise InvalidDag(
        f"{where}: {above.node_id!r} and {below.node_id!r} do not belong to a DAG yet",
        "make tasks inside `with DAG(…):` or pass dag=",
    )


def _unattached(label: Label) -> InvalidDag:
    return InvalidDag(f"{caller()}: {label!r} stands at an end", _advice(label))
