"""`decide`: readiness, cascades, verdicts, and: step by step equals from everything."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from flow.decide import Decision, RunFacts, TaskFacts, View, decide
from flow.graph import DagSpec, Graph, TaskSpec, TriggerRule
from flow.states import FINISHED, TASK_TRANSITIONS, RunState
from flow.states import TaskState as T

NOW = datetime(2026, 10, 9, tzinfo=UTC)
RUN = RunFacts(now=NOW, logical_date=NOW)
FRESH = RunFacts(now=NOW, fresh=True, logical_date=NOW)


def graph(edges: dict[str, str], **tasks: dict) -> Graph:
    """`graph({"b": "a"})`: b downstream of a; upstream ids are separated by spaces."""
    return Graph(
        DagSpec(
            dag_id="d",
            tasks=tuple(
                TaskSpec(
                    task_id=task_id,
                    operator="x",
                    upstream=tuple(sorted(above.split())),
                    **tasks.get(task_id, {}),
                )
                for task_id, above in sorted(edges.items())
            ),
        )
    )


def seen(**states: T) -> View:
    return View(tasks={task_id: TaskFacts(state) for task_id, state in states.items()})


def changes(decision: Decision) -> dict[str, T]:
    return {change.task_id: change.state for change in decision.changes}


CHAIN = graph({"a": "", "b": "a", "c": "b"})


def test_a_fresh_run_schedules_its_roots_and_looks_at_nothing_else():
    decision = decide(CHAIN, FRESH, None, View())
    assert changes(decision) == {"a": T.SCHEDULED}
    assert decision.verdict is None


def test_a_success_lets_its_successor_go():
    assert changes(decide(CHAIN, RUN, ["a"], seen(a=T.SUCCESS))) == {"b": T.SCHEDULED}


def test_a_failure_ends_everything_below_and_the_run_in_one_decision():
    decision = decide(CHAIN, RUN, ["a"], seen(a=T.FAILED))
    assert changes(decision) == {"b": T.UPSTREAM_FAILED, "c": T.UPSTREAM_FAILED}
    assert decision.verdict is RunState.FAILED


def test_a_failed_middle_task_behind_an_all_done_leaf_gives_success():
    g = graph({"a": "", "b": "a"}, b={"trigger_rule": TriggerRule.ALL_DONE})
    decision = decide(g, RUN, ["b"], seen(a=T.FAILED, b=T.SUCCESS))
    assert decision.verdict is RunState.SUCCESS


def test_a_task_without_code_succeeds_in_the_decision_itself():
    g = graph({"a": "", "b": "a", "c": "b"}, b={"runs_code": False})
    assert changes(decide(g, RUN, ["a"], seen(a=T.SUCCESS))) == {"b": T.SUCCESS, "c": T.SCHEDULED}


def test_a_run_of_only_empty_tasks_is_over_at_once():
    g = graph({"a": "", "b": "a"}, a={"runs_code": False}, b={"runs_code": False})
    decision = decide(g, FRESH, None, View())
    assert changes(decision) == {"a": T.SUCCESS, "b": T.SUCCESS}
    assert decision.verdict is RunState.SUCCESS


def test_an_empty_dag_is_over_at_once():
    decision = decide(graph({}), FRESH, None, View())
    assert decision.verdict is RunState.SUCCESS


def test_a_branch_skips_whatever_rule_its_targets_have():
    g = graph({"b": "", "x": "b", "y": "b", "z": "x y"}, x={"trigger_rule": TriggerRule.ALL_DONE})
    view = View(tasks={"b": TaskFacts(T.SUCCESS)}, skips={"b": frozenset({"x"})})
    decision = decide(g, RUN, ["b"], view)
    assert changes(decision) == {"x": T.SKIPPED, "y": T.SCHEDULED, "z": T.SKIPPED}


def test_skips_of_a_branch_that_was_cleared_do_not_count():
    g = graph({"b": "", "x": "b"})
    view = View(tasks={"b": TaskFacts(T.NONE)}, skips={"b": frozenset({"x"})})
    assert changes(decide(g, RUN, ["x"], view)) == {"b": T.SCHEDULED}


def test_a_retry_is_scheduled_when_due_and_announced_before():
    early = View(tasks={"a": TaskFacts(T.UP_FOR_RETRY, NOW + timedelta(seconds=5))})
    decision = decide(CHAIN, RUN, ["a"], early)
    assert not decision.changes
    assert decision.waits == [("a", NOW + timedelta(seconds=5))]
    due = View(tasks={"a": TaskFacts(T.UP_FOR_RETRY, NOW)})
    assert changes(decide(CHAIN, RUN, ["a"], due)) == {"a": T.SCHEDULED}


def test_what_the_view_does_not_hold_is_asked_for():
    view = View(tasks={"a": TaskFacts(T.SUCCESS)}, looked_up=frozenset({"a"}))
    assert decide(CHAIN, RUN, ["a"], view).unseen == {"b"}


def test_a_verdict_needs_a_census_and_then_a_complete_view():
    tasks = {"b": TaskFacts(T.SUCCESS), "c": TaskFacts(T.SUCCESS)}
    view = View(tasks=tasks, looked_up=frozenset({"b", "c"}))
    assert decide(CHAIN, RUN, ["c"], view).census
    view = View(tasks=tasks, looked_up=frozenset({"b", "c"}), unfinished=True)
    decision = decide(CHAIN, RUN, ["c"], view)
    assert not decision.undecided
    assert decision.verdict is None
    view = View(tasks=tasks, looked_up=frozenset({"b", "c"}), unfinished=False)
    assert decide(CHAIN, RUN, ["c"], view).everything


def test_a_change_nobody_announced_is_found_before_the_verdict():
    g = graph({"a": "", "b": "", "c": "a"})
    decision = decide(g, RUN, ["b"], seen(a=T.SUCCESS, b=T.SUCCESS))
    assert changes(decision) == {"c": T.SCHEDULED}
    assert decision.verdict is None


def test_a_task_of_another_version_is_ignored():
    assert not decide(CHAIN, RUN, ["gone"], seen(a=T.RUNNING)).changes


# ── step by step equals from everything ──────────────────────────────────────────────────────────

ENDS = [T.SUCCESS, T.FAILED, T.SKIPPED]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 9))
    ids = [f"t{number}" for number in range(size)]
    tasks = []
    for number, task_id in enumerate(ids):
        above = (
            draw(st.lists(st.sampled_from(ids[:number]), max_size=3, unique=True)) if number else []
        )
        tasks.append(
            TaskSpec(
                task_id=task_id,
                operator="x",
                upstream=tuple(sorted(above)),
                trigger_rule=draw(st.sampled_from(list(TriggerRule))),
                runs_code=draw(st.booleans()),
                start_date=NOW + timedelta(days=1) if draw(st.integers(0, 3)) == 0 else None,
            )
        )
    return Graph(DagSpec(dag_id="d", tasks=tuple(tasks)))


def narrow(states: dict[str, T], ids: frozenset[str], census: bool) -> View:
    return View(
        tasks={id: TaskFacts(states[id]) for id in ids if id in states},
        looked_up=ids,
        unfinished=any(s not in FINISHED for s in states.values()) if census else None,
    )


def decide_narrowly(g: Graph, changed: list[str], states: dict[str, T]) -> Decision:
    """Ask as the scheduler does: start from what changed, look up only what is asked for."""
    ids, census = frozenset(changed), False
    for _ in range(50):
        decision = decide(g, RUN, changed, narrow(states, ids, census))
        if not decision.undecided:
            return decision
        if decision.everything:
            return decide(g, RUN, changed, View({k: TaskFacts(v) for k, v in states.items()}))
        ids |= decision.unseen
        census = census or decision.census
    raise AssertionError("decide keeps asking")


@settings(max_examples=400, deadline=None)
@given(graphs(), st.data())
def test_deciding_step_by_step_equals_deciding_from_everything(g: Graph, data: st.DataObject):
    states: dict[str, T] = {}
    verdict = apply(states, decide(g, FRESH, None, View()))
    while verdict is None:
        active = sorted(id for id, state in states.items() if state is T.SCHEDULED)
        assert active, f"nothing runs and the run is not over: {states}"
        batch = data.draw(st.lists(st.sampled_from(active), min_size=1, max_size=3, unique=True))
        for task_id in batch:
            states[task_id] = data.draw(st.sampled_from(ENDS))
        step = decide_narrowly(g, batch, states)
        whole = decide(g, RUN, None, View({k: TaskFacts(v) for k, v in states.items()}))
        assert changes(step) == changes(whole)
        assert step.verdict == whole.verdict
        verdict = apply(states, step)
    assert set(states) == set(g.tasks)
    assert all(state in FINISHED for state in states.values())


def apply(states: dict[str, T], decision: Decision) -> RunState | None:
    for change in decision.changes:
        assert states.get(change.task_id, T.NONE) is change.expected
        assert change.state in TASK_TRANSITIONS[change.expected]
        states[change.task_id] = change.state
    return decision.verdict
