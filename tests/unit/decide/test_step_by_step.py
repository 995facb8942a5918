"""Deciding step by step, from narrow views, equals deciding from everything."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from flow.decide import Decision, Past, RunFacts, TaskFacts, View, decide
from flow.graph import DagSpec, Graph, TaskSpec, TriggerRule
from flow.states import FINISHED, HELD, TASK_TRANSITIONS, RunState
from flow.states import TaskState as T

NOW = datetime(2026, 10, 9, tzinfo=UTC)
RUN = RunFacts(now=NOW, logical_date=NOW, started_at=NOW)
ENDS = [T.SUCCESS, T.FAILED, T.SKIPPED]
GOOD = {T.SUCCESS, T.SKIPPED}
PAST = [T.SUCCESS, T.SKIPPED, T.NONE, T.RUNNING, T.FAILED]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 9))
    ids = [f"t{number}" for number in range(size)]
    fail_fast = draw(st.integers(0, 3)) == 0
    rules = [TriggerRule.ALL_SUCCESS] if fail_fast else list(TriggerRule)
    tasks = []
    for number, task_id in enumerate(ids):
        above = (
            draw(st.lists(st.sampled_from(ids[:number]), max_size=3, unique=True)) if number else []
        )
        asks = draw(st.integers(0, 2)) == 0
        tasks.append(
            TaskSpec(
                task_id=task_id,
                operator="x",
                upstream=tuple(sorted(above)),
                trigger_rule=draw(st.sampled_from(rules)),
                runs_code=draw(st.booleans()),
                start_date=NOW + timedelta(days=1) if draw(st.integers(0, 3)) == 0 else None,
                depends_on_past=asks,
                wait_for_downstream=asks and draw(st.booleans()),
                wait_for_past_depends_before_skipping=draw(st.booleans()),
            )
        )
    return Graph(DagSpec(dag_id="d", tasks=tuple(tasks), fail_fast=fail_fast))


def past_of(g: Graph, before: dict[str, T], asked: frozenset[str] | None = None) -> Past:
    """What the previous run says to those who ask; to all of them when nobody is named."""
    asked = frozenset(g.tasks) if asked is None else asked
    below = {task_id: g.downstream[task_id] for task_id in asked}
    seen = asked | {id for ids in below.values() for id in ids}
    return Past(
        run_key=1, asked=asked, below=below, states={id: before[id] for id in seen if id in before}
    )


def facts(states: dict[str, T]) -> dict[str, TaskFacts]:
    return {task_id: TaskFacts(state) for task_id, state in states.items()}


def decide_narrowly(
    g: Graph, run: RunFacts, changed: list[str], states: dict[str, T], before: dict[str, T]
) -> Decision:
    """Ask as the scheduler does: start from what changed, look up only what is asked for."""
    ids, view = frozenset(changed), View(looked_up=frozenset())
    for _ in range(50):
        if not view.complete:
            seen = {id: states[id] for id in ids if id in states}
            view = replace(view, tasks=facts(seen), looked_up=ids)
        decision = decide(g, run, changed, view)
        if not decision.undecided:
            return decision
        if decision.everything:
            view = replace(view, tasks=facts(states), looked_up=None)
        if decision.census:
            view = replace(view, unfinished=any(s not in FINISHED for s in states.values()))
        if decision.past:
            known = view.past.asked if view.past else frozenset()
            view = replace(view, past=past_of(g, before, known | decision.past))
        ids |= decision.unseen
    raise AssertionError("decide keeps asking")


def changes(decision: Decision) -> dict[str, T]:
    return {change.task_id: change.state for change in decision.changes}


@settings(max_examples=500)
@given(graphs(), st.data())
def test_deciding_step_by_step_equals_deciding_from_everything(g: Graph, data: st.DataObject):
    before = {task_id: data.draw(st.sampled_from(PAST)) for task_id in g.tasks}
    states: dict[str, T] = {}
    stopping: set[str] = set()
    selected = data.draw(st.none() | st.frozensets(st.sampled_from(sorted(g.tasks))))
    run = RUN._replace(selected=selected, ignores_past=data.draw(st.booleans()))
    first = decide(g, run._replace(fresh=True), None, View())
    verdict = apply(states, first)
    if first.past:
        whole = View(facts(states), past=past_of(g, before))
        verdict = apply(states, decide(g, run, None, whole))
    while verdict is None:
        active = sorted(id for id, state in states.items() if state not in FINISHED)
        assert active or any(state not in GOOD for state in before.values()), (
            f"nothing runs, nothing is waited for, and the run is not over: {states}"
        )
        if active and data.draw(st.booleans()):
            changed = end_some(states, active, stopping, data)
        elif changed := go_on_before(g, before, data):
            pass
        else:
            continue
        step = decide_narrowly(g, run, changed, states, before)
        whole = decide(g, run, None, View(facts(states), past=past_of(g, before)))
        assert changes(step) == changes(whole)
        assert step.verdict == whole.verdict
        # A task that was asked to stop may be asked again, by who sees the reason again.
        stops = {stop.task_id for stop in whole.stops}
        assert {stop.task_id for stop in step.stops} - stopping == stops - stopping
        assert all(states[task_id] in HELD for task_id in stops)
        stopping |= stops
        verdict = apply(states, step)
    assert set(states) == set(g.tasks)
    assert all(state in FINISHED for state in states.values())


def end_some(
    states: dict[str, T], active: list[str], stopping: set[str], data: st.DataObject
) -> list[str]:
    """Let some tasks of the run end, and others begin to run."""
    batch = data.draw(st.lists(st.sampled_from(active), min_size=1, max_size=3, unique=True))
    for task_id in batch:
        states[task_id] = data.draw(st.sampled_from(sorted(GOOD) if task_id in stopping else ENDS))
    for task_id in active:
        if states[task_id] is T.SCHEDULED and data.draw(st.booleans()):
            states[task_id] = T.RUNNING
    return batch


def go_on_before(g: Graph, before: dict[str, T], data: st.DataObject) -> list[str]:
    """Let some tasks of the previous run end well; the tasks of this one that heed that."""
    left = sorted(task_id for task_id, state in before.items() if state not in GOOD)
    if not left:
        return []
    batch = data.draw(st.lists(st.sampled_from(left), min_size=1, max_size=3, unique=True))
    for task_id in batch:
        before[task_id] = data.draw(st.sampled_from(sorted(GOOD)))
    return sorted(g.heeded_by(batch))


def apply(states: dict[str, T], decision: Decision) -> RunState | None:
    for change in decision.changes:
        assert states.get(change.task_id, T.NONE) is change.expected
        assert change.state in TASK_TRANSITIONS[change.expected]
        states[change.task_id] = change.state
    return decision.verdict
