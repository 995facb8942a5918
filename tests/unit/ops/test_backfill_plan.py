"""Which intervals a range means, and what there is to say about a plan."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flow.decide.backfill import Existing
from flow.errors import UsageError
from flow.graph import DagSpec, Graph, TaskSpec
from flow.ops.backfill_plan import MOST, Asked, Range, find_intervals, plan
from flow.states import RunState
from flow.store.read.backfills import Durations, IntervalRun
from flow.timetables import Custom, Interval, Row, parse

DAY = timedelta(days=1)
FIRST = datetime(2026, 3, 1, tzinfo=UTC)
NOW = FIRST + 10 * DAY
ASKED = Asked("oldest", "none", "latest", None, None)


def spec(schedule: object = "@daily", **fields: object) -> DagSpec:
    timetable = schedule if isinstance(schedule, Custom) else parse(schedule, "UTC")
    tasks = (TaskSpec(task_id="a", operator="x"),)
    return DagSpec(dag_id="d", tasks=tasks, timetable=timetable, **fields)


def days(found: list[Interval]) -> list[int]:
    return [(one.start - FIRST).days for one in found]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Range(FIRST, FIRST + 2 * DAY, False, NOW), [0, 1, 2]),
        (Range(FIRST, FIRST + 2 * DAY, True, NOW), [0, 1]),
        (Range(FIRST - 5 * DAY, FIRST, False, NOW), [0]),
        (Range(FIRST + 7 * DAY, FIRST + 20 * DAY, False, NOW), [7, 8, 9]),
    ],
)
def test_both_ends_count_and_only_what_has_ended(asked: Range, expected: list[int]) -> None:
    found, notes = find_intervals(spec(start_date=FIRST), asked, [])
    assert days(found) == expected
    assert len(notes) == (expected[-1] == 9)


@pytest.mark.parametrize("day", [-20, 20])
def test_a_range_without_intervals_is_told_where_they_are(day: int) -> None:
    asked = Range(FIRST + day * DAY, FIRST + (day + 1) * DAY, False, NOW)
    with pytest.raises(UsageError) as caught:
        find_intervals(spec(start_date=FIRST), asked, [])
    first, last = (one.isoformat() for one in (FIRST, FIRST + 9 * DAY))
    assert caught.value.hint.startswith(f"those that have ended start from {first} to {last}; ")
    with pytest.raises(UsageError) as caught:
        find_intervals(spec(start_date=FIRST, end_date=FIRST + DAY), asked, [])
    assert caught.value.hint == "its intervals are listed by: flow dags next d --from DATE"


def test_the_end_date_of_the_dag_counts() -> None:
    asked = Range(FIRST, FIRST + 5 * DAY, False, NOW)
    found, _ = find_intervals(spec(start_date=FIRST, end_date=FIRST + DAY), asked, [])
    assert days(found) == [0, 1]


def test_of_a_timetable_of_ones_own_what_is_told_and_what_has_run_is_known() -> None:
    rows = tuple(Row(FIRST + n * DAY, FIRST + (n + 1) * DAY, FIRST + (n + 1) * DAY) for n in (8, 9))
    run = IntervalRun(1, FIRST + DAY, FIRST + 2 * DAY, Existing("r", RunState.FAILED))
    asked = Range(FIRST, NOW, False, NOW)
    found, notes = find_intervals(spec(Custom("Mine", rows=rows)), asked, [run])
    assert days(found) == [1, 8, 9]
    assert notes == [
        "its timetable is asked ahead only: of earlier intervals those are known that have runs"
    ]
    with pytest.raises(UsageError, match="asked ahead only"):
        find_intervals(spec(Custom("Mine")), asked, [])


def test_too_many_are_refused() -> None:
    asked = Range(FIRST, FIRST + (MOST + 1) * timedelta(minutes=1), False, FIRST + 1000 * DAY)
    with pytest.raises(UsageError, match="more than 100,000"):
        find_intervals(spec("* * * * *", start_date=FIRST), asked, [])


def test_how_many_at_a_time() -> None:
    for own, given, expected in [(16, None, 10), (1, None, 1), (1, 4, 4), (16, 30, 30)]:
        graph = Graph(spec(max_active_runs=own))
        found = [Interval(FIRST, FIRST + DAY)]
        asked = ASKED._replace(max_active_runs=given)
        planned = plan(graph, asked, found, {}, Durations(None, {}), [])
        assert planned.max_active_runs == expected
        assert bool(planned.notes) == (expected > own)
