"""What a task waits for in the previous run, and what ends a run before its tasks."""

from datetime import UTC, datetime, timedelta

import pytest

from flow.decide import NO_PAST, Code, Decision, Past, RunFacts, TaskFacts, View, decide
from flow.decide.past import past_gate
from flow.graph import DagSpec, Graph, TaskSpec
from flow.states import FINISHED, RunState
from flow.states import TaskState as T

NOW = datetime(2026, 10, 9, tzinfo=UTC)
RUN = RunFacts(NOW, logical_date=NOW, started_at=NOW)


def task(task_id: str, above: str = "", **fields) -> TaskSpec:
    return TaskSpec(task_id=task_id, operator="x", upstream=tuple(above.split()), **fields)


def graph(*tasks: TaskSpec, **fields) -> Graph:
    return Graph(DagSpec(dag_id="d", tasks=tasks, **fields))


def past(state: RunState = RunState.RUNNING, below=None, paused=False, **states: T) -> Past:
    asked = frozenset({"a", "b", "c"})
    return Past(7, "d", "before", state, paused, asked, states, below or {})


def seen(before: Past | None, **states: T) -> View:
    return View({id: TaskFacts(state) for id, state in states.items()}, past=before)


def changes(decision: Decision) -> dict[str, T]:
    return {change.task_id: change.state for change in decision.changes}


ASKS = task("a", depends_on_past=True)


@pytest.mark.parametrize("state", list(T))
def test_only_success_and_skipped_let_the_next_go(state: T):
    found = past_gate(ASKS, past(a=state))
    if state in (T.SUCCESS, T.SKIPPED):
        assert found is None
    else:
        assert found is not None
        assert found.code is (Code.PAST_FAILED if state in FINISHED else Code.PAST_UNFINISHED)
        assert found.refers_to == "d/before/a"


def test_a_failure_is_told_in_words():
    reason = past_gate(ASKS, past(RunState.FAILED, a=T.FAILED))
    assert reason.text() == (
        "the previous run failed: a of before is failed; it goes on after "
        "flow clear d before --only-failed, or flow tasks mark d before a success"
    )


def test_without_a_previous_run_or_instance_it_goes():
    assert past_gate(ASKS, NO_PAST) is None
    assert past_gate(ASKS, past()) is None
    strict = task("a", depends_on_past=True, ignore_first_depends_on_past=False)
    assert past_gate(strict, NO_PAST) is None
    assert past_gate(strict, past()).code is Code.PAST_MISSING


def test_downstream_there_is_waited_for_too():
    waits = task("a", depends_on_past=True, wait_for_downstream=True)
    below = {"a": ("b", "c")}
    assert past_gate(waits, past(below=below, a=T.SUCCESS, b=T.SKIPPED, c=T.SUCCESS)) is None
    running = past_gate(waits, past(below=below, a=T.SUCCESS, b=T.SUCCESS, c=T.RUNNING))
    assert (running.code, running.facts["task"]) == (Code.PAST_UNFINISHED, "c")
    failed = past_gate(waits, past(below=below, a=T.SUCCESS, b=T.RUNNING, c=T.FAILED))
    assert (failed.code, failed.facts["task"]) == (Code.PAST_FAILED, "c")
    assert past_gate(ASKS, past(below=below, a=T.SUCCESS, b=T.RUNNING, c=T.FAILED)) is None


def test_the_past_is_asked_for_by_those_whose_turn_it_is():
    g = graph(task("a"), task("b", "a", depends_on_past=True), task("c", depends_on_past=True))
    fresh = decide(g, RUN._replace(fresh=True), None, View())
    assert (changes(fresh), fresh.past) == ({"a": T.SCHEDULED}, {"c"})
    assert decide(g, RUN, ["a"], seen(None, a=T.SUCCESS, c=T.RUNNING)).past == {"b"}
    assert not decide(g, RUN, ["a"], seen(None, a=T.FAILED, c=T.RUNNING)).past
    closed = decide(g, RUN, ["a"], seen(past(b=T.RUNNING), a=T.SUCCESS, c=T.RUNNING))
    assert (changes(closed), set(closed.closed)) == ({}, {"b"})
    known = past(b=T.SUCCESS)._replace(asked=frozenset({"b"}))
    assert decide(g, RUN, None, seen(known, a=T.SUCCESS)).past == {"c"}


def test_a_task_without_code_waits_for_its_past_as_well():
    g = graph(task("a", depends_on_past=True, runs_code=False), task("b", "a"))
    assert not decide(g, RUN, None, seen(past(a=T.NONE))).changes
    going = decide(g, RUN, None, seen(past(a=T.SUCCESS)))
    assert changes(going) == {"a": T.SUCCESS, "b": T.SCHEDULED}


@pytest.mark.parametrize(("option", "expected"), [(True, {}), (False, {"b": T.SKIPPED})])
def test_a_skip_waits_for_the_past_where_it_is_told_to(option: bool, expected: dict[str, T]):
    b = task("b", "a", depends_on_past=True, wait_for_past_depends_before_skipping=option)
    g = graph(task("a"), b)
    before = past(b=T.RUNNING)
    assert changes(decide(g, RUN, ["a"], seen(before, a=T.SKIPPED))) == expected
    chosen = View({"a": TaskFacts(T.SUCCESS)}, skips={"a": frozenset({"b"})}, past=before)
    assert changes(decide(g, RUN, ["a"], chosen)) == expected
    after = decide(g, RUN, ["a"], seen(past(b=T.SUCCESS), a=T.SKIPPED))
    assert changes(after) == {"b": T.SKIPPED}


def test_what_failed_above_is_told_without_the_past():
    g = graph(task("a"), task("b", "a", depends_on_past=True))
    decision = decide(g, RUN, ["a"], seen(None, a=T.FAILED))
    assert changes(decision) == {"b": T.UPSTREAM_FAILED}
    assert decision.verdict is RunState.FAILED


def test_a_run_that_waits_for_its_past_is_not_over():
    g = graph(task("a"), task("b", "a", depends_on_past=True))
    decision = decide(g, RUN, ["a"], seen(past(b=T.FAILED), a=T.SUCCESS))
    assert (decision.verdict, decision.requeue) == (None, False)


def test_it_makes_room_for_a_previous_run_that_has_not_started():
    g = graph(task("a"), task("b", "a", depends_on_past=True))
    queued = past(RunState.QUEUED, b=T.NONE)
    assert decide(g, RUN, ["a"], seen(queued, a=T.SUCCESS)).requeue
    assert not decide(g, RUN, ["a"], seen(queued._replace(paused=True), a=T.SUCCESS)).requeue
    assert not decide(g, RUN, None, seen(queued, a=T.RUNNING)).requeue
    narrow = View({"a": TaskFacts(T.SUCCESS)}, looked_up=frozenset("ab"), past=queued)
    assert decide(g, RUN, ["a"], narrow).census


# ── the end of a run before that of its tasks ────────────────────────────────────────────────────

STATES = {"a": T.RUNNING, "b": T.QUEUED, "c": T.SCHEDULED, "e": T.SUCCESS, "f": T.UP_FOR_RETRY}
ALL = (*(task(id) for id in "abcdef"), task("g", "a"))


def test_a_run_is_looked_at_when_its_time_is_over_and_ended_then():
    g = graph(task("a"), dagrun_timeout=60.0)
    fresh = decide(g, RUN._replace(fresh=True), None, View())
    assert fresh.waits == [(None, NOW + timedelta(seconds=60))]
    assert not decide(g, RUN, ["a"], seen(None, a=T.RUNNING)).waits
    early = RUN._replace(now=NOW + timedelta(seconds=59))
    assert decide(g, early, None, seen(None, a=T.RUNNING)).waits == fresh.waits
    late = decide(g, RUN._replace(now=NOW + timedelta(seconds=60)), None, seen(None, a=T.RUNNING))
    assert [stop.task_id for stop in late.stops] == ["a"]
    assert late.verdict is None


@pytest.mark.parametrize("limit", [{"dagrun_timeout": 60.0}, {"fail_fast": True}])
def test_a_run_ends_when_nothing_of_it_runs_any_more(limit: dict[str, object]):
    g = graph(*ALL, **limit)
    run = RUN._replace(now=NOW + timedelta(seconds=60))
    states = {**STATES, "d": T.FAILED}
    skipped = {"b": T.SKIPPED, "c": T.SKIPPED, "f": T.SKIPPED, "g": T.SKIPPED}
    first = decide(g, run, ["d"], seen(None, **states))
    assert (changes(first), [stop.task_id for stop in first.stops]) == (skipped, ["a"])
    assert (first.verdict, first.waits) == (None, [(None, run.now)])  # b may have been claimed
    claimed = {**states, **skipped, "b": T.RUNNING}
    second = decide(g, run, None, seen(None, **claimed))
    assert ([stop.task_id for stop in second.stops], second.verdict) == (["a", "b"], None)
    last = decide(g, run, ["a", "b"], seen(None, **{**claimed, "a": T.SKIPPED, "b": T.SUCCESS}))
    assert (changes(last), last.verdict) == ({}, RunState.FAILED)
    assert last.reason in ("dagrun_timeout: the run was not over after 60 s", "fail_fast: d failed")


def test_fail_fast_needs_everything_and_a_retry_is_no_failure():
    g = graph(task("a", retries=1), task("b"), fail_fast=True)
    narrow = View({"a": TaskFacts(T.FAILED)}, looked_up=frozenset("a"))
    assert decide(g, RUN, ["a"], narrow).everything
    retrying = View({"a": TaskFacts(T.UP_FOR_RETRY, NOW), "b": TaskFacts(T.RUNNING)})
    assert changes(decide(g, RUN, ["a"], retrying)) == {"a": T.SCHEDULED}
