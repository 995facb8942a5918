"""Canonical JSON: the same graph is always the same bytes."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from flow.graph import DagSpec, Graph, TaskSpec, TriggerRule, decode, encode, head, spec_hash
from flow.timetables import CronInterval


def dag(**fields) -> DagSpec:
    tasks = (
        TaskSpec(task_id="a", operator="x"),
        TaskSpec(task_id="b", operator="x", upstream=("a",), retries=2),
    )
    return DagSpec(**{"dag_id": "d", "tasks": tasks, **fields})


def test_what_equals_its_default_is_left_out_however_it_was_made():
    written = TaskSpec(
        task_id="a", operator="x", retry_delay=float("300"), pool="_".join(["default", "pool"])
    )
    plain = TaskSpec(task_id="a", operator="x")
    assert encode(dag(tasks=(written,))) == encode(dag(tasks=(plain,)))
    assert b"retry_delay" not in encode(dag(tasks=(written,)))


def test_it_reads_back_what_it_wrote():
    spec = dag(
        timetable=CronInterval("0 6 * * *", "Europe/Zurich"),
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        params={"b": 1, "a": [1, 2]},
        edge_labels={"a→b": "then"},
    )
    assert decode(encode(spec)) == spec
    assert spec_hash(encode(decode(encode(spec)))) == spec_hash(encode(spec))


@given(st.permutations(["z", "y", "x", "w"]))
def test_the_order_of_keys_changes_no_hash(order):
    assert encode(dag(params=dict.fromkeys(order, 1))) == encode(
        dag(params=dict.fromkeys(sorted(order), 1))
    )


def test_a_field_that_this_version_does_not_know_is_ignored():
    text = encode(dag()).replace(b'"dag_id"', b'"added_later":{"x":1},"dag_id"')
    assert decode(text) == dag()


def test_the_head_holds_what_a_fresh_run_needs():
    first = head(dag())
    assert first is not None
    assert [task.task_id for task in first.tasks] == ["a"]
    assert Graph(first).starters == Graph(dag()).starters


def test_a_head_that_would_decide_less_than_its_spec_does_not_exist():
    empty = TaskSpec(task_id="a", operator="x", runs_code=False)
    assert head(dag(tasks=(empty,))) is None
    assert head(dag(tasks=())) is None


def test_a_task_that_always_goes_is_in_the_head_without_its_upstream():
    always = TaskSpec(task_id="b", operator="x", upstream=("a",), trigger_rule=TriggerRule.ALWAYS)
    first = head(dag(tasks=(TaskSpec(task_id="a", operator="x"), always)))
    assert first is not None
    assert [task.upstream for task in first.tasks] == [(), ()]
