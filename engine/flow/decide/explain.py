"""Why a task of a run is as it is, from the rules that move it.

What waits is decided once more with a complete view, by `decide` itself: what it would do, what
closes its gates and what its trigger rule waits for is the answer.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import Final

from flow.decide.decision import Decision
from flow.decide.reason import NO_REASON, Code, Reason
from flow.decide.view import View
from flow.enumeration import few
from flow.graph.index import Graph
from flow.states import FINISHED, TaskState

NAMED: Final = 5
"""Upstream tasks that one sentence names."""
CAUSES: Final = 3
"""First causes that one answer names."""

_BAD: Final = frozenset({TaskState.FAILED, TaskState.UPSTREAM_FAILED})


def why_open(graph: Graph, view: View, decision: Decision, task_id: str, run: str) -> list[Reason]:
    """What a task in state none waits for, by a decision about its run with a complete view.

    `run` names the run as a reason refers to it: `dag/run`.
    """
    if task_id in decision.closed:
        return [decision.closed[task_id]]
    if any(change.task_id == task_id for change in decision.changes):
        return [Reason(Code.DUE)]
    spec = graph.tasks[task_id]
    unfinished = [id for id in spec.upstream if view.facts(id).state not in FINISHED]
    if not unfinished:
        return [Reason(Code.DUE)]
    facts = {
        "rule": spec.trigger_rule.value,
        "unfinished": len(unfinished),
        "total": len(spec.upstream),
        "names": few([f"{id} ({view.facts(id).state})" for id in unfinished], NAMED),
    }
    return [Reason(Code.UPSTREAM, facts, refers_to=f"{run}/{unfinished[0]}")]


def why_unrun(
    graph: Graph,
    states: Mapping[str, TaskState],
    reasons: Mapping[str, str | None],
    task_id: str,
    run: str,
) -> list[Reason]:
    """Why a task ended without running: its rule, and the first causes upstream."""
    spec = graph.tasks[task_id]
    counts = Counter(states.get(id, TaskState.NONE).value for id in spec.upstream)
    ended = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
    facts = {"rule": spec.trigger_rule.value, "total": len(spec.upstream), "ended": ended}
    return [Reason(Code.TRIGGER_RULE, facts), *_causes(graph, states, reasons, task_id, run)]


def _causes(
    graph: Graph,
    states: Mapping[str, TaskState],
    reasons: Mapping[str, str | None],
    task_id: str,
    run: str,
) -> list[Reason]:
    """What led to the end of a task, if it did not come to it by itself: the nearest tasks upstream
    that did, each by the shortest way there."""
    found: list[Reason] = []
    seen = {task_id}
    waiting: deque[tuple[str, ...]] = deque([(task_id,)])
    while waiting and len(found) < CAUSES:
        path = waiting.popleft()
        led = list(_led_to(graph, states, path[-1]))
        if not led and len(path) > 1:
            found.append(_cause(path, states, reasons, run))
        for id in led:
            if id not in seen:
                seen.add(id)
                waiting.append((*path, id))
    return found


def causes_of_leaf(
    graph: Graph,
    states: Mapping[str, TaskState],
    reasons: Mapping[str, str | None],
    leaf: str,
    run: str,
) -> list[Reason]:
    """Why a final task ended as it did: what led to it, else itself."""
    return _causes(graph, states, reasons, leaf, run) or [_cause((leaf,), states, reasons, run)]


def _cause(
    path: tuple[str, ...],
    states: Mapping[str, TaskState],
    reasons: Mapping[str, str | None],
    run: str,
) -> Reason:
    """The last task of a way upstream, as the cause of how the first one ended."""
    at = path[-1]
    facts = {
        "chain": " <- ".join(path),
        "task": at,
        "state": states.get(at, TaskState.NONE).value,
        "reason": reasons.get(at) or NO_REASON,
    }
    return Reason(Code.CAUSE, facts, refers_to=f"{run}/{at}")


def _led_to(graph: Graph, states: Mapping[str, TaskState], task_id: str) -> Iterator[str]:
    """The direct upstream tasks that made a task end without running."""
    state = states.get(task_id, TaskState.NONE)
    wanted = {TaskState.UPSTREAM_FAILED: _BAD, TaskState.SKIPPED: {TaskState.SKIPPED}}.get(state)
    if wanted is None or task_id not in graph.tasks:
        return
    yield from (id for id in graph.upstream(task_id) if states.get(id) in wanted)
