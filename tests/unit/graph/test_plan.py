"""Where a DAG's schedule begins and goes on, from its spec."""

from datetime import UTC, datetime, timedelta

from flow.graph import DagSpec
from flow.graph.plan import cursor_from_now, plan
from flow.timetables import parse

NOON = datetime(2026, 10, 9, 12, tzinfo=UTC)
MIDNIGHT = NOON.replace(hour=0)
DAY = timedelta(days=1)


def dag(schedule: str, catchup: bool | str) -> DagSpec:
    start = MIDNIGHT - 5 * DAY
    return DagSpec(dag_id="d", timetable=parse(schedule, "UTC"), start_date=start, catchup=catchup)


def test_catchup_none_begins_with_the_interval_in_progress_and_keeps_it_after_its_end():
    daily = dag("@daily", "none")
    cursor = cursor_from_now(daily, None, NOON)
    assert cursor == MIDNIGHT
    for moment in (NOON, NOON + DAY):
        assert plan(daily, cursor, moment).interval.start == MIDNIGHT


def test_catchup_none_passes_over_what_ended_during_a_pause_but_never_goes_back():
    daily = dag("@daily", "none")
    assert cursor_from_now(daily, MIDNIGHT - 3 * DAY, NOON) == MIDNIGHT
    assert cursor_from_now(daily, MIDNIGHT + DAY, NOON) == MIDNIGHT + DAY


def test_any_other_catchup_goes_on_where_it_was():
    for catchup in (True, False):
        assert cursor_from_now(dag("@daily", catchup), None, NOON) is None
        assert cursor_from_now(dag("@daily", catchup), MIDNIGHT - DAY, NOON) == MIDNIGHT - DAY


def test_once_still_runs_with_catchup_none():
    once = dag("@once", "none")
    cursor = cursor_from_now(once, None, NOON)
    assert cursor is None
    assert plan(once, cursor, NOON) is not None
