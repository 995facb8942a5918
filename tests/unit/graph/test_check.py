"""Structural checks: one clear error for each broken graph, and nothing else."""

import itertools

import pytest

from flow.errors import InvalidDag
from flow.graph import DagSpec, GroupSpec, TaskSpec
from flow.graph.check import MAX_ID, check, check_id
from flow.timetables import Continuous, DeltaInterval


def dag(edges: dict[str, str], groups: tuple[str, ...] = ()) -> DagSpec:
    return DagSpec(
        dag_id="d",
        tasks=tuple(
            TaskSpec(task_id=task_id, operator="x", upstream=tuple(sorted(above.split())))
            for task_id, above in edges.items()
        ),
        groups=tuple(GroupSpec(group_id=name) for name in groups),
    )


def test_a_sound_graph_is_returned_as_it_is():
    spec = dag({"a": "", "b": "a", "c": "a b"}, groups=("g",))
    assert check(spec) is spec


@pytest.mark.parametrize(
    ("edges", "path"),
    [
        ({"a": "a"}, "a >> a"),
        ({"a": "b", "b": "a"}, "a >> b >> a"),
        ({"a": "", "b": "a d", "c": "b", "d": "c"}, "b >> c >> d >> b"),
    ],
)
def test_a_cycle_is_named_by_its_path(edges, path):
    with pytest.raises(InvalidDag) as caught:
        check(dag(edges))
    named = str(caught.value).partition("cycle: ")[2].split(" >> ")
    expected = path.split(" >> ")
    assert named[0] == named[-1]
    assert sorted(named[1:]) == sorted(expected[1:])
    for above, below in itertools.pairwise(named):
        assert above in edges[below].split()


def test_two_tasks_of_one_id_and_a_task_named_as_a_group_are_refused():
    twice = DagSpec(dag_id="d", tasks=(TaskSpec(task_id="a", operator="x"),) * 2)
    with pytest.raises(InvalidDag, match="'a' is used twice"):
        check(twice)
    with pytest.raises(InvalidDag, match="'g' is used twice"):
        check(dag({"g": ""}, groups=("g",)))


def test_an_edge_to_nowhere_is_refused():
    with pytest.raises(InvalidDag, match="'b' depends on 'gone'"):
        check(dag({"b": "gone"}))


@pytest.mark.parametrize("name", ["a", "A-1", "x.y_z", "_", "-n", "9", "a" * MAX_ID])
def test_legal_ids(name):
    assert check_id("task_id", name) == name


@pytest.mark.parametrize(
    "name",
    ["", "..", ".", ".a", "a b", "a/b", "ñ", "数据", "a\n", "a%2F", "x;rm", "a" * (MAX_ID + 1),
     "e\u0301", None, 3],
)  # fmt: skip
def test_illegal_ids_are_refused_with_the_rule_they_break(name):
    with pytest.raises(InvalidDag, match="task_id"):
        check_id("task_id", name)


def test_runs_without_a_pause_need_a_limit_of_one_active_run():
    with pytest.raises(InvalidDag, match="max_active_runs is 16") as refusal:
        check(DagSpec(dag_id="loop", timetable=Continuous()))
    assert refusal.value.hint == "write max_active_runs=1"
    check(DagSpec(dag_id="loop", timetable=Continuous(), max_active_runs=1))


def test_a_timetable_that_cannot_be_is_refused():
    with pytest.raises(InvalidDag, match="every 0 seconds"):
        check(DagSpec(dag_id="d", timetable=DeltaInterval(0.0)))


def test_a_chain_of_ten_thousand_tasks_is_checked_without_recursion():
    edges = {f"t{n}": f"t{n - 1}" if n else "" for n in range(10_000)}
    assert check(dag(edges)).tasks
