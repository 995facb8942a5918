"""`chain`, `chain_linear` and `cross_downstream`: many dependencies in one call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from flow.authoring.node import Label, Node, link
from flow.authoring.origin import caller
from flow.errors import InvalidDag

Nodes = Node | Sequence[Node]


def chain(*tasks: Nodes | Label) -> None:
    """Let each of `tasks` wait for the one before it.

    Between a node and a list, every element is connected; between two lists, of one length, each
    element with the one at its place. A Label names the dependency between its neighbours.
    """
    for above, below, label in _neighbours(tasks):
        if isinstance(above, Sequence) and isinstance(below, Sequence):
            if len(above) != len(below):
                raise InvalidDag(
                    f"{caller()}: chain connects lists of one length, "
                    f"not of {len(above)} and {len(below)}",
                    "chain_linear connects every task of a list with every task of the next",
                )
            for one, other in zip(above, below, strict=True):
                link(one, other, label)
        else:
            link(above, below, label)


def chain_linear(*elements: Nodes | Label) -> None:
    """Let every task of each element wait for every task of the element before it."""
    given = list(_neighbours(elements))
    if not given:
        raise InvalidDag(
            f"{caller()}: chain_linear connects two elements or more, not {len(elements)}"
        )
    for above, below, label in given:
        link(above, below, label)


def cross_downstream(from_tasks: Sequence[Node], to_tasks: Nodes) -> None:
    """Let every task of `to_tasks` wait for every task of `from_tasks`."""
    link(from_tasks, to_tasks)


def _neighbours(elements: Sequence[Any]) -> list[tuple[Any, Any, Label | None]]:
    """Pairs of neighbouring elements that are no labels, each with the label between them."""
    nodes: list[tuple[Any, Label | None]] = []
    label: Label | None = None
    for element in elements:
        if isinstance(element, Label):
            if not nodes or label is not None:
                raise InvalidDag(f"{caller()}: {element!r} must stand between two tasks")
            label = element
        else:
            nodes.append((element, label))
            label = None
    if label is not None:
        raise InvalidDag(f"{caller()}: {label!r} must stand between two tasks")
    return [(above, below, between) for (above, _), (below, between) in pairwise(nodes)]
