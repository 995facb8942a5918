"""What `flow graph` draws: lanes, the page around them, and the text for Graphviz."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from flow.graph import Graph, GroupSpec, TaskSpec
from flow.graph.spec import DagSpec, TriggerRule
from flow.ops.dag_graph import DagGraph, Edge, Node, in_reading_order
from flow.states import TaskState
from flow.store.read.runs import Run
from flow_cli.dot import dot_of
from flow_cli.drawing import Sheet, plain_text
from flow_cli.graph_page import describe
from flow_cli.lanes import NODE, lanes

PIPE = Sheet(None, symbols=True)
AT = datetime(2026, 10, 9, tzinfo=UTC)
RUN = Run("shop", "it", "manual", "failed", AT, AT, AT, AT, AT, AT, 3, {}, None, None)
SIDEWAYS = frozenset("─├┤┴┼╰╯" + NODE)


def drawn(upstream: Mapping[str, Sequence[str]]) -> list[str]:
    found = lanes(list(upstream), upstream, 200)
    assert found is not None
    return found.rows


def test_a_diamond():
    assert drawn({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}) == ["●", "├─●", "● │", "●─╯"]


def test_roots_do_not_stand_below_what_they_do_not_wait_for():
    assert drawn({"a": [], "b": [], "c": ["b"]}) == ["●", "  ●", "  ●"]


def test_what_passes_is_not_joined():
    rows = drawn({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["a"]})
    assert rows == ["●", "├─●", "├─│─●", "│ ●─╯", "●"]


@pytest.mark.parametrize("width", [2, 3, 5])
def test_every_edge_can_be_read_from_the_lanes(width: int):
    """Follows the lines of layers in which every other edge is missing."""
    names = [[f"{layer}.{at}" for at in range(width)] for layer in range(3)]
    upstream: dict[str, list[str]] = {name: [] for name in names[0]}
    for above, here in pairwise(names):
        for at, name in enumerate(here):
            upstream[name] = [one for place, one in enumerate(above) if (place + at) % 2 == 0]
    assert _read(list(upstream), drawn(upstream)) == {
        name: set(above) for name, above in upstream.items()
    }


def _read(order: list[str], rows: list[str]) -> dict[str, set[str]]:
    """What is above each node, found by eye: down lanes, and sideways where they are joined."""
    owners: dict[int, str] = {}
    found = {}
    for name, row in zip(order, rows, strict=True):
        own = row.index(NODE)
        joined = {at for at in range(0, len(row), 2) if row[at] in "├┤┴┼╰╯"}
        if own in owners and row[own] == NODE:
            joined.add(own)
        found[name] = {owners[at] for at in joined}
        for at in joined:
            if row[at] in "┴╰╯":
                del owners[at]
        owners[own] = name
        below = rows[order.index(name) + 1] if name != order[-1] else ""
        if below[own : own + 1] in ("", " ", "─"):
            del owners[own]
    return found


def test_lanes_that_leave_no_room_are_not_drawn():
    dense = {f"a{at}": [] for at in range(9)} | {"b": [f"a{at}" for at in range(9)]}
    assert lanes(list(dense), dense, 16) is None
    assert lanes(list(dense), dense, 17) is not None


def spec(task_id: str, *upstream: str, **fields: object) -> TaskSpec:
    return TaskSpec(task_id=task_id, operator="BashOperator", upstream=upstream, **fields)  # type: ignore[arg-type]


TASKS = [
    spec('al"arm', "load.ch.raw", trigger_rule=TriggerRule.ONE_FAILED),
    spec("extract"),
    spec("load.ch.raw", "extract", group="load.ch"),
    spec("load.de", "extract", group="load"),
    spec("report", "load.ch.raw", "load.de"),
]
GROUPS = {"extract": [], "load.ch.raw": ["load", "load.ch"], "load.de": ["load"], "report": []}
STATES = {
    "extract": TaskState.SUCCESS,
    "load.ch.raw": TaskState.FAILED,
    "load.de": TaskState.SUCCESS,
    "report": TaskState.UPSTREAM_FAILED,
    'al"arm': TaskState.SUCCESS,
}


def shop(run: Run | None = None) -> DagGraph:
    by_id = {task.task_id: task for task in TASKS}
    order = ["extract", "load.ch.raw", "load.de", "report", 'al"arm']
    counts = {"load.ch.raw": {"success": 2, "failed": 1}} if run else {}
    nodes = [
        Node(by_id[id], GROUPS.get(id, []), STATES[id] if run else None, counts.get(id, {}))
        for id in order
    ]
    edges = [Edge(above, task.task_id, None) for task in TASKS for above in task.upstream]
    edges[0] = edges[0]._replace(label='only "bad"')
    return DagGraph("shop", 3, run, nodes, edges, {"load": "", "load.ch": ""})


def text(graph: DagGraph, sheet: Sheet) -> str:
    return "".join(plain_text(line) + "\n" for line in describe(graph, sheet))


def test_the_page_of_a_version():
    assert (
        text(shop(), PIPE)
        == """\
shop, version 3: 5 tasks, 5 edges

●    extract          BashOperator
│    load/
│      load.ch/
├─●      load.ch.raw  BashOperator
● │    load.de        BashOperator
●─┤  report           BashOperator
  ●  al"arm           BashOperator  when one_failed
"""
    )


def test_the_page_of_a_run_in_letters():
    assert (
        text(shop(RUN), Sheet(None, symbols=False))
        == """\
shop/it, version 3: failed, 5 tasks, 5 edges

+    extract          success
|    load/
|      load.ch/
|-X      load.ch.raw  failed (1 failed, 2 success)
+ |    load.de        success
u-|  report           upstream_failed
  +  al"arm           success  when one_failed

+ success  X failed  u upstream_failed
"""
    )


@pytest.mark.parametrize("width", [40, 80, 120])
def test_on_a_terminal_long_ids_lose_their_middle(width: int):
    long = "load_" + "x" * 200 + "_end"
    graph = DagGraph("shop", 1, None, [Node(spec(long), [], None, {})], [], {})
    line = text(graph, Sheet(width, symbols=True)).splitlines()[2]
    assert len(line) <= width
    assert line.split()[1].startswith("load_") and line.split()[1].endswith("_end")
    assert long in text(graph, PIPE)


def test_without_room_for_lanes_tasks_say_what_they_wait_for():
    shown = text(shop(), Sheet(8, symbols=True))
    assert "after" in shown
    assert "├" not in shown


def test_groups_stay_together_where_they_can():
    groups = (GroupSpec(group_id="g"),)
    tasks = (spec("a"), spec("g.x", "a", group="g"), spec("b", "a"), spec("g.y", "a", group="g"))
    tasks = tuple(sorted(tasks, key=lambda task: task.task_id))
    graph = Graph(DagSpec(dag_id="d", tasks=tasks, groups=groups))
    assert in_reading_order(graph) == ["a", "b", "g.x", "g.y"]
    between = (*tasks, spec("g.z", "b", "g.y", group="g"))
    order = in_reading_order(Graph(DagSpec(dag_id="d", tasks=between, groups=groups)))
    assert order == ["a", "b", "g.x", "g.y", "g.z"]


def test_the_text_for_graphviz_quotes_and_nests():
    shown = dot_of(shop(RUN))
    assert '"al\\"arm" [label="al\\"arm\\nsuccess", fillcolor=palegreen];' in shown
    assert '  "load.ch.raw" -> "al\\"arm" [label="only \\"bad\\""];' in shown
    outer = shown.index('subgraph "cluster_load" {')
    assert outer < shown.index('    subgraph "cluster_load.ch" {') < shown.index('"load.ch.raw" [')
    if (dot := shutil.which("dot")) is not None:
        subprocess.run([dot, "-Tplain"], input=shown, text=True, check=True, capture_output=True)
