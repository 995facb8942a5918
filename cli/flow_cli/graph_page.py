"""What `flow graph` prints: the edges as lanes beside the tasks, groups as headings.

    sales, version 3: 4 tasks, 4 edges

    ●    extract    BashOperator
    │    load/
    ├─●    load.ch  PythonOperator
    ● │    load.de  PythonOperator
    ●─╯  report     BashOperator

With a run the sign of a task is that of its state. Where the lanes would leave no room for words,
each task says instead what it waits for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from flow.wording.cells import counted, printable, width_of
from flow.wording.groups import INDENT, entered
from flow.wording.layout import GAP, padded, shortened
from flow.wording.looks import LOOKS
from flow_cli import lanes
from flow_cli.drawing import Line, Piece, Sheet, legend, plain_text
from flow_cli.lanes import Lanes
from flow_cli.records import row_of

if TYPE_CHECKING:
    from flow.ops.dag_graph import DagGraph, Node

_SHARE_OF_LANES: Final = 3
"""Lanes take at most one part in so many of a terminal."""
_WIDEST_LANES: Final = 100
"""Terminal columns that lanes take at most where nothing else limits them."""
_SHORTEST_NAME: Final = 20
"""Terminal columns that an id keeps while there is something beside it."""


class _Row(NamedTuple):
    """A task or a heading; `lanes` is what stands left of it."""

    lanes: Line
    name: str
    style: str
    words: Line


def describe(graph: DagGraph, sheet: Sheet) -> list[Line]:
    """A graph as lines for people."""
    drawn = lanes.lanes(
        [node.task.task_id for node in graph.nodes],
        {node.task.task_id: node.task.upstream for node in graph.nodes},
        _WIDEST_LANES if sheet.width is None else sheet.width // _SHARE_OF_LANES,
    )
    lines = [[Piece(printable(_title(graph)), "bold")], []]
    lines += _laid_out(_rows(graph, drawn, sheet), drawn.width if drawn else 1, sheet)
    seen = {node.state.value for node in graph.nodes if node.state is not None}
    return [*lines, [], *legend(seen, sheet)] if seen else lines


def json_of(graph: DagGraph) -> dict[str, Any]:
    """A graph as the JSON object that says the same."""
    run = graph.run
    return {
        "dag_id": graph.dag_id,
        "version": graph.version,
        "run_id": run.run_id if run else None,
        "state": run.state if run else None,
        "tasks": [
            {
                "task_id": node.task.task_id,
                "group": node.task.group,
                "operator": node.task.operator,
                "trigger_rule": node.task.trigger_rule.value,
                "state": node.state,
                "instances": node.instances,
            }
            for node in graph.nodes
        ],
        "edges": [row_of(edge) for edge in graph.edges],
        "groups": [
            {"group_id": group_id, "tooltip": tooltip}
            for group_id, tooltip in graph.tooltips.items()
        ],
    }


def _title(graph: DagGraph) -> str:
    size = f"{counted(len(graph.nodes), 'task')}, {counted(len(graph.edges), 'edge')}"
    if graph.run is None:
        return f"{graph.dag_id}, version {graph.version}: {size}"
    return f"{graph.dag_id}/{graph.run.run_id}, version {graph.version}: {graph.run.state}, {size}"


def _rows(graph: DagGraph, drawn: Lanes | None, sheet: Sheet) -> list[_Row]:
    rows: list[_Row] = []
    inside: list[str] = []
    for at, node in enumerate(graph.nodes):
        for depth, group in entered(inside, node.groups):
            beside = [Piece(_sign(drawn.above[at] if drawn else "", sheet), "dim")]
            rows.append(_Row(beside, f"{INDENT * depth}{printable(group)}/", "bold", []))
        inside = node.groups
        name = INDENT * len(node.groups) + printable(node.task.task_id)
        beside = _with_state(drawn.rows[at] if drawn else lanes.NODE, node, sheet)
        rows.append(_Row(beside, name, "", _words(node, sheet, with_edges=drawn is None)))
    return rows


def _laid_out(rows: list[_Row], lanes_width: int, sheet: Sheet) -> list[Line]:
    """Lanes, names and words below each other; too long names lose their middle."""
    name_width = max((width_of(row.name) for row in rows), default=0)
    if sheet.width is not None:
        beside = max((width_of(plain_text(row.words)) for row in rows), default=0) + len(GAP)
        room = sheet.width - lanes_width - len(GAP)
        name_width = min(name_width, max(room - beside, min(room, _SHORTEST_NAME)))
    lines = []
    for row in rows:
        name = (
            row.name
            if sheet.width is None
            else shortened(row.name, name_width, symbols=sheet.symbols)
        )
        gap = padded("", lanes_width + len(GAP) - width_of(plain_text(row.lanes)))
        text = padded(name, name_width + len(GAP)) if row.words else name
        lines.append([*row.lanes, Piece(gap), Piece(text, row.style), *row.words])
    return lines


def _words(node: Node, sheet: Sheet, *, with_edges: bool) -> Line:
    """What is said beside a task: its state or its operator, its rule, and what it waits for."""
    task = node.task
    if node.state is None:
        words = [Piece(printable(task.operator), "dim")]
    else:
        words = [Piece(node.state, LOOKS[node.state].style)]
    if node.instances:
        counts = ", ".join(f"{number} {state}" for state, number in sorted(node.instances.items()))
        words.append(Piece(f" ({counts})"))
    if task.trigger_rule != "all_success":
        words.append(Piece(f"  when {task.trigger_rule.value}", "dim"))
    if with_edges and task.upstream:
        upstream = ", ".join(map(printable, task.upstream))
        if sheet.width is not None:
            upstream = shortened(upstream, sheet.width // _SHARE_OF_LANES, symbols=sheet.symbols)
        words.append(Piece(f"  after {upstream}"))
    return words


def _with_state(row: str, node: Node, sheet: Sheet) -> Line:
    """The lanes of a task with its state where they meet it."""
    if node.state is None:
        return [Piece(_sign(row, sheet))]
    look = LOOKS[node.state]
    before, _, after = row.partition(lanes.NODE)
    return [
        Piece(_sign(before, sheet), "dim"),
        Piece(look.symbol if sheet.symbols else look.letter, look.style),
        Piece(_sign(after, sheet), "dim"),
    ]


def _sign(row: str, sheet: Sheet) -> str:
    return row if sheet.symbols else lanes.plain(row)
