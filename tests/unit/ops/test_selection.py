"""Selections of tasks, as repair verbs take them."""

from __future__ import annotations

import pytest

from flow.errors import NotFound, UsageError
from flow.graph import DagSpec, Graph, GroupSpec, TaskSpec
from flow.ops.selection import select


def task(task_id: str, *upstream: str, group: str | None = None) -> TaskSpec:
    return TaskSpec(task_id=task_id, operator="X", upstream=upstream, group=group)


GRAPH = Graph(
    DagSpec(
        dag_id="sales",
        tasks=(
            task("extract_ch"),
            task("extract_de"),
            task("load.check", "extract_ch", "extract_de", group="load"),
            task("load.deep.write", "load.check", group="load.deep"),
            task("report", "load.deep.write"),
        ),
        groups=(GroupSpec(group_id="load"), GroupSpec(group_id="load.deep", parent="load")),
    )
)


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("report", ["report"]),
        ("extract_*", ["extract_ch", "extract_de"]),
        ("load", ["load.check", "load.deep.write"]),
        ("load.deep", ["load.deep.write"]),
        ("+load.check", ["extract_ch", "extract_de", "load.check"]),
        ("load.check+", ["load.check", "load.deep.write", "report"]),
        ("+load.deep.write+", list(GRAPH.order)),
        ("report, extract_de", ["extract_de", "report"]),
        ("+load+", list(GRAPH.order)),
    ],
)
def test_tasks_are_selected_in_the_order_of_the_graph(text: str, selected: list[str]) -> None:
    assert select(GRAPH, text).instances == dict.fromkeys(selected)


def test_instances_are_selected_one_by_one_or_all() -> None:
    some = select(GRAPH, "report[3],report[1][2]")
    assert some.instances == {"report": frozenset({(3,), (1, 2)})}
    assert some.has("report", (3,))
    assert not some.has("report", (4,))
    assert not some.has("load.check", ())
    whole = select(GRAPH, "report[3],report")
    assert whole.has("report", (4,))


@pytest.mark.parametrize("text", ["", " , "])
def test_an_empty_selection_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no task is selected"):
        select(GRAPH, text)


def test_a_part_that_selects_nothing_is_named() -> None:
    with pytest.raises(NotFound) as caught:
        select(GRAPH, "report,extract_xx*")
    assert caught.value.message == "DAG 'sales' has no task 'extract_xx*'"
    with pytest.raises(NotFound) as caught:
        select(GRAPH, "repor")
    assert caught.value.hint == "did you mean report?"
