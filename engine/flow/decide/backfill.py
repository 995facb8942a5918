"""What a backfill does with each interval, in which order, and how long that may take. Pure.

An interval without a run gets one. One whose run has ended is left alone, or its run is cleared, as
`reprocess` says. A run that is under way is nobody's to touch. What is planned is decided once more
when the interval's turn comes, by the same rule: what has changed since may take something away
from the plan, and never adds to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from math import ceil
from typing import Literal, NamedTuple, TypeVar

from flow.graph import Graph
from flow.states import FINISHED_RUNS, RunState

Reprocess = Literal["none", "failed", "all"]
"""Which runs that have ended are done again."""
Order = Literal["oldest", "newest"]
"""Which intervals go first."""
Item = TypeVar("Item")


class Action(StrEnum):
    """What happens to an interval."""

    CREATE = "create"
    CLEAR = "clear"
    SKIP = "skip"


class Existing(NamedTuple):
    """The run that an interval has."""

    run_id: str
    state: RunState
    archived: bool = False


class Turn(NamedTuple):
    """What to do with an interval; `note` says why nothing."""

    action: Action
    note: str | None = None


def turn_of(existing: Existing | None, reprocess: Reprocess) -> Turn:
    """What a backfill does with an interval that has this run, or none."""
    if existing is None:
        return Turn(Action.CREATE)
    if existing.state not in FINISHED_RUNS:
        return Turn(Action.SKIP, f"its run is {existing.state}")
    if reprocess == "none" or (reprocess == "failed" and existing.state is RunState.SUCCESS):
        word = "succeeded" if existing.state is RunState.SUCCESS else "failed"
        return Turn(Action.SKIP, f"its run has {word}")
    if existing.archived:
        return Turn(Action.SKIP, "its run is archived")
    return Turn(Action.CLEAR)


def turn_now(planned: Action, existing: Existing | None, reprocess: Reprocess) -> Turn:
    """What is done when the turn of an interval comes for which that was `planned`.

    A run that was deleted since is made anew; one that was made by somebody else stays as it is.
    """
    now = turn_of(existing, reprocess)
    if now.action is Action.CLEAR and planned is Action.CREATE:
        return Turn(Action.SKIP, "it has got a run since it was planned")
    return now


def in_order(items: Sequence[Item], order: Order) -> list[Item]:
    """What is in order of time in the order in which it is worked through."""
    return list(items) if order == "oldest" else list(reversed(items))


def forced_order(graph: Graph, order: Order) -> Order:
    """The order that is possible: tasks that depend on their past need the oldest first."""
    return "oldest" if graph.asks_past else order


def estimate(
    graph: Graph,
    selected: Collection[str] | None,
    run_seconds: float | None,
    task_seconds: Mapping[str, float],
    runs: int,
    at_a_time: int,
) -> float | None:
    """Seconds that so many runs will take, from how long a whole one and its tasks usually take.

    Runs go in waves of `at_a_time`. A run of some tasks takes a part of a whole one: that which the
    longest way through these tasks is of the longest way through all. None: nothing is known.
    """
    if run_seconds is None or not runs:
        return None
    part = 1.0
    if selected is not None:
        whole = _longest_way(graph, task_seconds)
        chosen = {id: seconds for id, seconds in task_seconds.items() if id in selected}
        part = _longest_way(graph, chosen) / whole if whole else 1.0
    return ceil(runs / at_a_time) * run_seconds * part


def _longest_way(graph: Graph, seconds: Mapping[str, float]) -> float:
    """Of the ways through a graph the one that takes longest; unknown tasks take no time."""
    until: dict[str, float] = {}
    for task_id in graph.order:
        before = max((until[id] for id in graph.upstream(task_id)), default=0.0)
        until[task_id] = before + seconds.get(task_id, 0.0)
    return max(until.values(), default=0.0)
