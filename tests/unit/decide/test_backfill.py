"""What a backfill does with each interval, and how long that may take."""

from __future__ import annotations

import pytest

from flow.decide.backfill import (
    Action,
    Existing,
    Turn,
    estimate,
    forced_order,
    in_order,
    turn_now,
    turn_of,
)
from flow.graph import DagSpec, Graph, TaskSpec
from flow.states import RunState

SUCCESS, FAILED = Existing("r", RunState.SUCCESS), Existing("r", RunState.FAILED)


@pytest.mark.parametrize(
    ("existing", "reprocess", "expected"),
    [
        (None, "none", Turn(Action.CREATE)),
        (None, "all", Turn(Action.CREATE)),
        (SUCCESS, "none", Turn(Action.SKIP, "its run has succeeded")),
        (SUCCESS, "failed", Turn(Action.SKIP, "its run has succeeded")),
        (SUCCESS, "all", Turn(Action.CLEAR)),
        (FAILED, "none", Turn(Action.SKIP, "its run has failed")),
        (FAILED, "failed", Turn(Action.CLEAR)),
        (FAILED, "all", Turn(Action.CLEAR)),
        (Existing("r", RunState.RUNNING), "all", Turn(Action.SKIP, "its run is running")),
        (Existing("r", RunState.QUEUED), "failed", Turn(Action.SKIP, "its run is queued")),
        (FAILED._replace(archived=True), "all", Turn(Action.SKIP, "its run is archived")),
    ],
)
def test_what_is_planned(existing, reprocess, expected) -> None:
    assert turn_of(existing, reprocess) == expected
    if expected.action is not Action.CLEAR:
        assert turn_now(Action.CREATE, existing, reprocess) == expected
    assert turn_now(Action.CLEAR, existing, reprocess) == expected


def test_what_came_since_is_never_cleared_unplanned() -> None:
    assert turn_now(Action.CREATE, SUCCESS, "all") == Turn(
        Action.SKIP, "it has got a run since it was planned"
    )


def graph(**past: bool) -> Graph:
    edges = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}
    return Graph(
        DagSpec(
            dag_id="d",
            tasks=tuple(
                TaskSpec(task_id=id, operator="x", upstream=above, **past)
                for id, above in edges.items()
            ),
        )
    )


def test_the_order() -> None:
    assert in_order([1, 2, 3], "oldest") == [1, 2, 3]
    assert in_order([1, 2, 3], "newest") == [3, 2, 1]
    assert forced_order(graph(), "newest") == "newest"
    assert forced_order(graph(depends_on_past=True), "newest") == "oldest"


SECONDS = {"a": 10.0, "b": 20.0, "c": 60.0, "d": 10.0}


@pytest.mark.parametrize(
    ("selected", "runs", "at_a_time", "expected"),
    [
        (None, 1, 4, 100.0),
        (None, 4, 4, 100.0),
        (None, 5, 4, 200.0),
        (["c"], 1, 1, 75.0),
        (["b", "d"], 1, 1, 37.5),
        (["unknown"], 1, 1, 0.0),
        (None, 0, 4, None),
    ],
)
def test_the_estimate(selected, runs, at_a_time, expected) -> None:
    assert estimate(graph(), selected, 100.0, SECONDS, runs, at_a_time) == expected


def test_without_a_past_there_is_no_estimate() -> None:
    assert estimate(graph(), None, None, {}, 10, 2) is None
    assert estimate(graph(), ["a"], 100.0, {}, 1, 1) == 100.0
