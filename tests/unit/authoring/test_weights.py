"""Priorities after the weight rules."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from flow import DAG, chain
from flow.authoring.serialise import to_spec
from flow.authoring.weights import HIGHEST, LOWEST, priorities
from flow.graph import DagSpec, Graph, TaskSpec
from flow.operators.empty import EmptyOperator


def spec_of(upstream: dict[str, tuple[str, ...]]) -> DagSpec:
    return DagSpec(
        dag_id="d",
        tasks=tuple(
            TaskSpec(task_id=name, operator="x", upstream=tuple(sorted(ups)))
            for name, ups in sorted(upstream.items())
        ),
    )


DIAMOND = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}


def test_each_rule_counts_each_task_once() -> None:
    graph = Graph(spec_of(DIAMOND))
    weights = {"a": 1, "b": 10, "c": 100, "d": 1000}
    assert {
        rule: priorities(graph, weights, dict.fromkeys(DIAMOND, rule))
        for rule in ("absolute", "downstream", "upstream")
    } == {
        "absolute": weights,
        "downstream": {"a": 1111, "b": 1010, "c": 1100, "d": 1000},
        "upstream": {"a": 1, "b": 11, "c": 101, "d": 1111},
    }


def test_rules_may_differ_within_a_dag() -> None:
    rules = {"a": "downstream", "b": "absolute", "c": "upstream", "d": "upstream"}
    weights = {"a": 1, "b": -10, "c": 0, "d": 1000}
    assert priorities(Graph(spec_of(DIAMOND)), weights, rules) == {
        "a": 991,
        "b": -10,
        "c": 1,
        "d": 991,
    }


@given(st.data())
def test_sums_equal_those_of_a_walk(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    names = [f"t{number:02}" for number in range(size)]
    upstream = {
        name: tuple(data.draw(st.sets(st.sampled_from(names[:number]))) if number else ())
        for number, name in enumerate(names)
    }
    limit = st.integers(-(2**33), 2**33)
    weights = {name: data.draw(limit) for name in names}
    graph = Graph(spec_of(upstream))
    down = priorities(graph, weights, dict.fromkeys(names, "downstream"))
    up = priorities(graph, weights, dict.fromkeys(names, "upstream"))
    for name in names:
        below = {name, *graph.descendants([name])}
        above = {name, *graph.ancestors([name])}
        for found, members in ((down, below), (up, above)):
            total = sum(weights[one] for one in members)
            assert found[name] == max(LOWEST, min(HIGHEST, total))


def test_weights_beyond_an_int32_are_capped() -> None:
    with DAG("d") as dag:
        first = EmptyOperator(task_id="first", priority_weight=2**31 - 1)
        second = EmptyOperator(task_id="second", priority_weight=2**31 - 1, weight_rule="upstream")
        EmptyOperator(task_id="third", priority_weight=-(2**40), weight_rule="absolute")
    first >> second
    assert [task.priority for task in to_spec(dag).tasks] == [HIGHEST, HIGHEST, LOWEST]


def test_a_chain_of_five_thousand_heavy_tasks() -> None:
    with DAG("d") as dag:
        tasks = [EmptyOperator(task_id=f"t{n:04}", priority_weight=10**6) for n in range(5000)]
    chain(*tasks)
    found = [task.priority for task in to_spec(dag).tasks]
    assert found[-3:] == [3_000_000, 2_000_000, 1_000_000]
    assert found[0] == HIGHEST
    assert found == sorted(found, reverse=True)


def test_many_paths_cost_no_more_than_their_edges() -> None:
    """Twenty layers of ten tasks have 10^20 paths; a walk of them would never end."""
    with DAG("d") as dag:
        layers = [
            [EmptyOperator(task_id=f"l{layer:02}_{n}") for n in range(10)] for layer in range(20)
        ]
    for above, below in pairwise(layers):
        for task in above:
            task >> below
    found = {task.task_id: task.priority for task in to_spec(dag).tasks}
    assert (found["l00_0"], found["l19_0"]) == (191, 1)


def test_limits_of_a_task_reach_its_spec() -> None:
    with DAG("d") as dag:
        EmptyOperator(task_id="t", max_active_tis_per_dag=3, max_active_tis_per_dagrun=2)
    [task] = to_spec(dag).tasks
    assert (task.max_active_tis_per_dag, task.max_active_tis_per_dagrun) == (3, 2)
