"""`flow graph`: the tasks of a DAG and what waits for what, with the states of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from flow.graph import Graph
from flow.graph.grouping import paths
from flow.graph.spec import TaskSpec
from flow.ops.deployment import Deployment
from flow.ops.references import find_dag, find_run_and_graph, load_graph
from flow.states import TaskState, loudest
from flow.store.read import tasks
from flow.store.read.runs import Run


class Node(NamedTuple):
    """A task. `state` is None without a run; `instances` counts by state where it is mapped."""

    task: TaskSpec
    groups: list[str]
    """Those that it is inside, outermost first."""
    state: TaskState | None
    instances: dict[str, int]


class Edge(NamedTuple):
    """That a task waits for another one."""

    upstream: str
    downstream: str
    label: str | None


class DagGraph(NamedTuple):
    """The graph of a version: of a run where there is one, else of the latest.

    Every task stands behind those it waits for, and where that leaves a choice next to those of
    its groups. `tooltips` are by id of group, of all groups.
    """

    dag_id: str
    version: int
    run: Run | None
    nodes: list[Node]
    edges: list[Edge]
    tooltips: dict[str, str]


def graph(deployment: Deployment, dag_id: str, reference: str | None = None) -> DagGraph:
    """The graph of a DAG, or of one of its runs. Raises `NotFound`."""
    conn = deployment.conn
    states: dict[str, Counter[str]] = {}
    with deployment.snapshot():
        if reference is None:
            dag = find_dag(conn, dag_id)
            run, version, shown = None, dag.version, load_graph(conn, dag.spec_hash)
        else:
            found, shown = find_run_and_graph(conn, dag_id, reference)
            run, version = found.run, found.run.version
            for one in tasks.counts(conn, [found.run_key]):
                states.setdefault(one.task_id, Counter())[one.state] += one.instances
    return DagGraph(
        dag_id=dag_id,
        version=version,
        run=run,
        nodes=_nodes(shown, states if run is not None else None),
        edges=[
            Edge(upstream, task.task_id, shown.spec.edge_labels.get(f"{upstream}→{task.task_id}"))
            for task in shown.spec.tasks
            for upstream in task.upstream
        ],
        tooltips={group.group_id: group.tooltip for group in shown.spec.groups},
    )


def _nodes(graph: Graph, states: dict[str, Counter[str]] | None) -> list[Node]:
    path_of = paths(graph.spec.groups)
    nodes = []
    for task_id in in_reading_order(graph):
        task = graph.tasks[task_id]
        counts = dict((states or {}).get(task_id, {}))
        state = None
        if states is not None:
            state = loudest({TaskState(one) for one in counts} or {TaskState.NONE})
        instances = counts if sum(counts.values()) > 1 else {}
        nodes.append(Node(task, list(path_of(task)), state, instances))
    return nodes


def in_reading_order(graph: Graph) -> list[str]:
    """All task ids, upstream first; of those that may come next, one near the last one.

    Near is first what is in the same groups, then what was made possible most recently. So chains
    stay together, and groups where nothing between their tasks prevents it.
    """
    path_of = paths(graph.spec.groups)
    place = {task_id: path_of(task) for task_id, task in graph.tasks.items()}
    missing = {task_id: len(task.upstream) for task_id, task in graph.tasks.items()}
    ready: dict[tuple[str, ...], list[str]] = {}
    """By groups, and by those around them; the last one made possible is at the end of each."""

    def make_ready(task_ids: Iterable[str]) -> None:
        for task_id in sorted(task_ids, reverse=True):
            for depth in range(len(place[task_id]) + 1):
                ready.setdefault(place[task_id][:depth], []).append(task_id)

    make_ready(task_id for task_id, count in missing.items() if not count)
    order: dict[str, None] = {}
    last: tuple[str, ...] = ()
    while len(order) < len(place):
        waiting = ready.get(last, [])
        while waiting and waiting[-1] in order:
            waiting.pop()
        if not waiting:
            last = last[:-1]
            continue
        chosen = waiting.pop()
        order[chosen] = None
        last = place[chosen]
        for below in graph.downstream[chosen]:
            missing[below] -= 1
        make_ready(below for below in graph.downstream[chosen] if not missing[below])
    return list(order)
