"""Dependencies as written, and the edges between tasks that they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flow import DAG, BaseOperator, Label, TaskGroup, chain, chain_linear, cross_downstream
from flow.operators.empty import EmptyOperator


class World:
    """A DAG with tasks a to f; groups g (ga, gb) and h (ha), h.i (h.i.x); and empty groups."""

    def __init__(self) -> None:
        with DAG("d") as self.dag:
            for name in "abcdef":
                setattr(self, name, EmptyOperator(task_id=name))
            with TaskGroup("g") as self.g:
                self.ga, self.gb = EmptyOperator(task_id="a"), EmptyOperator(task_id="b")
            with TaskGroup("h") as self.h:
                self.ha = EmptyOperator(task_id="a")
                with TaskGroup("i") as self.i:
                    self.hx = EmptyOperator(task_id="x")
            self.e1, self.e2 = TaskGroup("e1"), TaskGroup("e2")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def fill_later(w: World) -> None:
    w.a >> w.e1 >> w.b
    with w.e1:
        EmptyOperator(task_id="late") >> EmptyOperator(task_id="later")


EDGES: list[tuple[Callable[[World], Any], str]] = [
    (lambda w: w.a >> w.b, "a>b"),
    (lambda w: w.a << w.b, "b>a"),
    (lambda w: w.a >> w.b >> w.c, "a>b b>c"),
    (lambda w: w.a >> [w.b, w.c] >> w.d, "a>b a>c b>d c>d"),
    (lambda w: w.a >> (w.b, w.c), "a>b a>c"),
    (lambda w: [w.a, w.b] >> w.c, "a>c b>c"),
    (lambda w: [w.a, w.b] << w.c, "c>a c>b"),
    (lambda w: w.a << [w.b, w.c], "b>a c>a"),
    (lambda w: w.a >> [w.b, [w.c, w.d]], "a>b a>c a>d"),
    (lambda w: w.a.output >> w.b.output, "a>b"),
    (lambda w: [w.a.output, w.b] >> w.c, "a>c b>c"),
    (lambda w: w.a.set_downstream([w.b, w.c]), "a>b a>c"),
    (lambda w: w.a.set_upstream(w.b), "b>a"),
    (lambda w: (w.a >> w.b, w.a >> w.b), "a>b"),
    (lambda w: w.a >> w.g, "a>g.a a>g.b"),
    (lambda w: w.g >> w.a, "g.a>a g.b>a"),
    (lambda w: (w.ga >> w.gb, w.a >> w.g >> w.b), "a>g.a g.a>g.b g.b>b"),
    (lambda w: (w.a >> w.g >> w.b, w.ga >> w.gb), "a>g.a g.a>g.b g.b>b"),
    (lambda w: w.g >> w.h, "g.a>h.a g.a>h.i.x g.b>h.a g.b>h.i.x"),
    (lambda w: (w.ha >> w.i, w.g >> w.h >> w.a), "g.a>h.a g.b>h.a h.a>h.i.x h.i.x>a"),
    (lambda w: (w.g >> w.h >> w.a, w.ha >> w.i), "g.a>h.a g.b>h.a h.a>h.i.x h.i.x>a"),
    (lambda w: [w.g, w.a] >> w.b, "a>b g.a>b g.b>b"),
    (lambda w: w.a >> w.e1 >> w.b, "a>b"),
    (lambda w: w.a >> w.e1 >> w.e2 >> [w.b, w.c], "a>b a>c"),
    (lambda w: (w.e1 >> w.e2, w.a >> w.e1, w.e2 >> w.b), "a>b"),
    (lambda w: w.a >> w.e1, ""),
    (fill_later, "a>e1.late e1.late>e1.later e1.later>b"),
    (lambda w: chain(w.a, w.b, w.c), "a>b b>c"),
    (lambda w: chain(w.a, [w.b, w.c], [w.d, w.e], w.f), "a>b a>c b>d c>e d>f e>f"),
    (lambda w: chain(w.a, w.g, w.b), "a>g.a a>g.b g.a>b g.b>b"),
    (lambda w: chain(w.a), ""),
    (lambda w: chain_linear(w.a, [w.b, w.c], [w.d, w.e]), "a>b a>c b>d b>e c>d c>e"),
    (lambda w: cross_downstream([w.a, w.b], [w.c, w.d]), "a>c a>d b>c b>d"),
    (lambda w: cross_downstream([w.a, w.b], w.c), "a>c b>c"),
]


@pytest.mark.parametrize(("write", "expected"), EDGES)
def test_edges(write: Callable[[World], Any], expected: str) -> None:
    world = World()
    with world.dag:
        write(world)
    edges = world.dag.edges
    found = {f"{up}>{down}" for up, downs in edges.downstream.items() for down in downs}
    assert found == set(expected.split())
    mirrored = {f"{up}>{down}" for down, ups in edges.upstream.items() for up in ups}
    assert mirrored == found
    assert edges.upstream.keys() == world.dag.task_dict.keys()


LABELS: list[tuple[Callable[[World], Any], dict[str, str]]] = [
    (lambda w: w.a >> Label("x") >> w.b, {"a>b": "x"}),
    (lambda w: w.a << Label("x") << w.b, {"b>a": "x"}),
    (lambda w: [w.a, w.b] >> Label("x") >> w.c, {"a>c": "x", "b>c": "x"}),
    (lambda w: [w.a, w.b] << Label("x") << w.c, {"c>a": "x", "c>b": "x"}),
    (
        lambda w: w.a >> Label("x") >> [w.b, w.c] >> Label("y") >> w.d,
        {"a>b": "x", "a>c": "x", "b>d": "y", "c>d": "y"},
    ),
    (lambda w: w.a >> Label("x") >> w.g, {"a>g.a": "x", "a>g.b": "x"}),
    (lambda w: w.a >> Label("x") >> w.e1 >> w.b, {"a>b": "x"}),
    (lambda w: w.a >> w.e1 >> Label("x") >> w.b, {"a>b": "x"}),
    (lambda w: chain(w.a, Label("x"), w.b, w.c), {"a>b": "x"}),
    (lambda w: chain_linear(w.a, Label("x"), [w.b, w.c]), {"a>b": "x", "a>c": "x"}),
    (lambda w: w.a.set_downstream(w.b, edge_modifier=Label("x")), {"a>b": "x"}),
    (lambda w: w.a.output >> Label("x") >> w.b.output, {"a>b": "x"}),
]


@pytest.mark.parametrize(("write", "expected"), LABELS)
def test_labels(write: Callable[[World], Any], expected: dict[str, str]) -> None:
    world = World()
    write(world)
    assert {f"{up}>{down}": text for (up, down), text in world.dag.edges.labels.items()} == expected
    assert {
        f"{up}>{down}" for up, downs in world.dag.edges.downstream.items() for down in downs
    } >= expected.keys()


def test_one_label_object_serves_several_edges() -> None:
    w, label = World(), Label("x")
    w.a >> label >> w.b
    w.c >> label >> w.d
    assert w.dag.edges.labels == {("a", "b"): "x", ("c", "d"): "x"}


def test_a_task_without_dag_takes_that_of_its_neighbour() -> None:
    w, outside = World(), EmptyOperator(task_id="outside")
    assert not outside.has_dag()
    outside >> w.a
    assert outside.dag is w.dag
    assert w.a.upstream_task_ids == {"outside"}


def test_relatives() -> None:
    w = World()
    chain(w.a, w.b, [w.c, w.d], w.e)
    assert w.b.get_flat_relative_ids() == {"c", "d", "e"}
    assert w.e.get_flat_relative_ids(upstream=True) == {"a", "b", "c", "d"}
    assert [task.task_id for task in w.e.upstream_list] == ["c", "d"]
    assert [task.task_id for task in w.b.get_direct_relatives()] == ["c", "d"]
    assert [task.task_id for task in w.dag.roots if not task.task_id.count(".")] == ["a", "f"]
    assert [task.task_id for task in w.dag.leaves if not task.task_id.count(".")] == ["e", "f"]


def test_an_argument_set_later_makes_an_edge() -> None:
    class Load(BaseOperator):
        template_fields = ("sql",)

        def __init__(self, *, sql: Any = None, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.sql = sql

    with DAG("d"):
        first, second = Load(task_id="a"), Load(task_id="b")
    second.sql = {"x": [first.output]}
    assert second.upstream_task_ids == {"a"}


def test_ids_labels_and_unprefixed_groups() -> None:
    with DAG("d") as dag:
        with TaskGroup("g"):
            inner = EmptyOperator(task_id="a")
            with TaskGroup("h", prefix_group_id=False) as unprefixed:
                bare = EmptyOperator(task_id="b")
        with TaskGroup("g", add_suffix_on_collision=True) as second:
            EmptyOperator(task_id="a")
    assert dag.task_ids == ["g.a", "b", "g__1.a"]
    assert (inner.label, bare.label, unprefixed.group_id, second.group_id) == (
        "a",
        "b",
        "g.h",
        "g__1",
    )


def test_a_dense_layer_is_resolved_once() -> None:
    with DAG("d") as dag:
        groups = []
        for number in range(4):
            with TaskGroup(f"g{number}") as group:
                for task in range(50):
                    EmptyOperator(task_id=f"t{task}")
            groups.append(group)
    chain(*groups)
    assert sum(len(downs) for downs in dag.edges.downstream.values()) == 3 * 50 * 50
    assert dag.edges is dag.edges
