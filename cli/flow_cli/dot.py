"""A graph in the language of Graphviz: groups are clusters, states are words and colours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from flow.wording.groups import INDENT

if TYPE_CHECKING:
    from flow.ops.dag_graph import DagGraph, Node

_COLOURS: Final = {
    "success": "palegreen",
    "failed": "lightcoral",
    "upstream_failed": "orange",
    "skipped": "plum",
    "running": "lightskyblue",
    "up_for_retry": "khaki",
    "up_for_reschedule": "khaki",
    "restarting": "khaki",
    "awaiting_input": "khaki",
    "queued": "lightcyan",
    "scheduled": "lightcyan",
    "deferred": "lightcyan",
}
"""Of states, by their names in Graphviz; the others stay white."""


def dot_of(graph: DagGraph) -> str:
    """The graph as the text of a file for `dot`."""
    lines = [
        f"digraph {_quoted(graph.dag_id)} {{",
        f"{INDENT}rankdir=LR;",
        f'{INDENT}node [shape=box, style="rounded,filled", fillcolor=white];',
        *_inside(graph.nodes, 0),
        *(f"{INDENT}{text}" for text in _edges(graph)),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _inside(nodes: list[Node], depth: int) -> Iterator[str]:
    """The tasks of a group, or of no group, and the groups in it."""
    margin = INDENT * (depth + 1)
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        if len(node.groups) > depth:
            groups.setdefault(node.groups[depth], []).append(node)
        else:
            yield margin + _task(node)
    for group, members in groups.items():
        # Graphviz draws a frame around a subgraph only if its name begins so.
        yield f"{margin}subgraph {_quoted('cluster_' + group)} {{"
        yield f"{margin}{INDENT}label={_quoted(group)};"
        yield from _inside(members, depth + 1)
        yield f"{margin}}}"


def _task(node: Node) -> str:
    task_id = node.task.task_id
    if node.state is None:
        return f"{_quoted(task_id)};"
    label = f"{_escaped(task_id)}\\n{node.state}"
    colour = _COLOURS.get(node.state, "white")
    return f'{_quoted(task_id)} [label="{label}", fillcolor={colour}];'


def _edges(graph: DagGraph) -> Iterator[str]:
    for edge in graph.edges:
        label = f" [label={_quoted(edge.label)}]" if edge.label else ""
        yield f"{_quoted(edge.upstream)} -> {_quoted(edge.downstream)}{label};"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
