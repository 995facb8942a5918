"""Tasks outside of their window, or not selected, are passed over; nothing else changes."""

from datetime import UTC, datetime, timedelta

import pytest

from flow.decide import Decision, RunFacts, TaskFacts, View, decide
from flow.graph import DagSpec, Graph, TaskSpec, TriggerRule, head
from flow.states import RunState
from flow.states import TaskState as T

DAY = timedelta(days=1)
FIRST = datetime(2026, 10, 5, tzinfo=UTC)
LAST = FIRST + 2 * DAY


def graph(edges: dict[str, str], rule: TriggerRule = TriggerRule.ALL_SUCCESS) -> Graph:
    """`graph({"b": "a"})`; task b has a window, and the last one the rule."""
    window = {"start_date": FIRST, "end_date": LAST}
    return Graph(
        DagSpec(
            dag_id="d",
            tasks=tuple(
                TaskSpec(
                    task_id=task_id,
                    operator="x",
                    upstream=tuple(sorted(above.split())),
                    trigger_rule=rule if task_id == max(edges) else TriggerRule.ALL_SUCCESS,
                    **(window if task_id.startswith("b") else {}),
                )
                for task_id, above in sorted(edges.items())
            ),
        )
    )


CHAIN = graph({"a": "", "b": "a", "c": "b"})


def step(g: Graph, day: datetime | None, changed: list[str] | None, **states: T) -> Decision:
    view = View(tasks={task_id: TaskFacts(state) for task_id, state in states.items()})
    return decide(g, RunFacts(LAST, fresh=not states, logical_date=day), changed, view)


def changes(decision: Decision) -> dict[str, T]:
    return {change.task_id: change.state for change in decision.changes}


@pytest.mark.parametrize(
    ("day", "runs"),
    [
        (FIRST - timedelta.resolution, False),
        (FIRST, True),
        (LAST, True),
        (LAST + timedelta.resolution, False),
        (None, True),
    ],
)
def test_both_ends_belong_to_the_window(day: datetime | None, runs: bool) -> None:
    found = changes(step(CHAIN, day, ["a"], a=T.SUCCESS))
    assert found == ({"b": T.SCHEDULED} if runs else {"b": T.SKIPPED, "c": T.SCHEDULED})


def test_the_reason_names_the_end_that_was_passed() -> None:
    after, before = (step(CHAIN, day, ["a"], a=T.SUCCESS) for day in (LAST + DAY, FIRST - DAY))
    reasons = [decision.changes[0].reason for decision in (after, before)]
    assert reasons == [
        "the run is after the task's end_date 2026-10-07T00:00:00+00:00",
        "the run is before the task's start_date 2026-10-05T00:00:00+00:00",
    ]


def test_it_waits_for_its_turn_and_hands_on_what_it_was_given() -> None:
    assert changes(step(CHAIN, LAST + DAY, None)) == {"a": T.SCHEDULED}
    failed = step(CHAIN, LAST + DAY, ["a"], a=T.FAILED)
    assert changes(failed) == {"b": T.UPSTREAM_FAILED, "c": T.UPSTREAM_FAILED}
    skipped = step(CHAIN, LAST + DAY, ["a"], a=T.SKIPPED)
    assert changes(skipped) == {"b": T.SKIPPED, "c": T.SKIPPED}


def test_a_skip_by_choice_counts_as_one_outside_of_the_window_too() -> None:
    view = View(tasks={"a": TaskFacts(T.SUCCESS)}, skips={"a": frozenset({"b"})})
    decision = decide(CHAIN, RunFacts(LAST, logical_date=LAST + DAY), ["a"], view)
    assert changes(decision) == {"b": T.SKIPPED, "c": T.SKIPPED}


def test_a_root_and_a_leaf_may_be_passed_over() -> None:
    root = graph({"b": "", "c": "b"})
    assert changes(step(root, LAST + DAY, None)) == {"b": T.SKIPPED, "c": T.SCHEDULED}
    leaf = step(graph({"a": "", "b": "a"}), LAST + DAY, ["a"], a=T.SUCCESS)
    assert changes(leaf) == {"b": T.SKIPPED}
    assert leaf.verdict is RunState.SUCCESS


@pytest.mark.parametrize("rule", list(TriggerRule))
def test_for_every_rule_it_counts_as_a_success(rule: TriggerRule) -> None:
    g = graph({"a": "", "b": "", "c": "a b"}, rule)
    outside = step(g, LAST + DAY, ["a"], a=T.SUCCESS, b=T.SKIPPED)
    inside = step(g, LAST, ["a"], a=T.SUCCESS, b=T.SUCCESS)
    assert changes(outside) == changes(inside)


def test_a_long_chain_of_them_is_passed_over_in_one_decision() -> None:
    size = 3_000
    names = [f"b{number:05}" for number in range(size)]
    g = graph(dict(zip(names, ["", *names], strict=False)))
    decision = step(g, LAST + DAY, None)
    assert set(changes(decision).values()) == {T.SKIPPED}
    assert decision.verdict is RunState.SUCCESS
    # The last one alone, as after a clear: everything above it has to be understood again.
    states = dict.fromkeys(names[:-1], T.SKIPPED)
    assert changes(step(g, LAST + DAY, names[-1:], **states)) == {names[-1]: T.SKIPPED}


def test_what_is_not_selected_is_passed_over_in_the_same_way() -> None:
    run = RunFacts(LAST, logical_date=LAST, selected=frozenset({"a", "c"}))

    def decided(**states: T) -> dict[str, T]:
        view = View(tasks={task_id: TaskFacts(state) for task_id, state in states.items()})
        return changes(decide(CHAIN, run, None, view))

    assert decided() == {"a": T.SCHEDULED}
    assert decided(a=T.SUCCESS) == {"b": T.SKIPPED, "c": T.SCHEDULED}
    assert decided(a=T.FAILED) == {"b": T.UPSTREAM_FAILED, "c": T.UPSTREAM_FAILED}


def test_a_spec_that_begins_with_one_has_no_head() -> None:
    """What follows from it is decided together with it."""
    assert head(graph({"b": "", "c": "b"}).spec) is None
    assert head(CHAIN.spec) is not None
