"""Which run a schedule gets next: start and end dates, catchup, and the cursor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.timetables import (
    Catchup,
    Continuous,
    CronInterval,
    CronTrigger,
    DeltaInterval,
    Events,
    Never,
    Once,
    Planned,
    Timetable,
    latest_complete,
    opening_cursor,
    plan_next,
)

HOURLY = CronInterval("0 * * * *", "UTC")
DAILY = CronInterval("0 0 * * *", "UTC")
EVERY_DAY = DeltaInterval(86_400.0)
NOW = datetime(2026, 3, 15, 13, 20, tzinfo=UTC)
HOUR, DAY, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)
TODAY = datetime(2026, 3, 15, tzinfo=UTC)
CATCHUPS: list[Catchup] = [True, False, "none"]


def plan(
    timetable: Timetable,
    start_date: datetime | None,
    catchup: Catchup,
    cursor: datetime | None = None,
    now: datetime = NOW,
    end_date: datetime | None = None,
) -> Planned | None:
    return plan_next(
        timetable,
        start_date=start_date,
        end_date=end_date,
        catchup=catchup,
        cursor=cursor,
        now=now,
    )


def due_runs(
    timetable: Timetable,
    start_date: datetime | None,
    catchup: Catchup,
    cursor: datetime | None = None,
    now: datetime = NOW,
    end_date: datetime | None = None,
) -> list[Planned]:
    """Every run that a scheduler creates at `now` before it finds nothing more due."""
    created = []
    planned = plan(timetable, start_date, catchup, cursor, now, end_date)
    while planned is not None and planned.due_at <= now:
        created.append(planned)
        cursor = planned.next_cursor
        planned = plan(timetable, start_date, catchup, cursor, now, end_date)
    return created


@pytest.mark.parametrize(
    ("timetable", "start_date", "catchup", "count", "first_start"),
    [
        (DAILY, TODAY - DAY, True, 1, TODAY - DAY),
        (DAILY, TODAY - DAY, False, 1, TODAY - DAY),
        (DAILY, TODAY - DAY, "none", 0, TODAY),
        (DAILY, TODAY - DAY + SECOND, True, 0, TODAY),
        (DAILY, TODAY - DAY + SECOND, False, 0, TODAY),
        (DAILY, TODAY - DAY - SECOND, True, 1, TODAY - DAY),
        (DAILY, TODAY - DAY - SECOND, False, 1, TODAY - DAY),
        (DAILY, NOW - 3 * HOUR, True, 0, TODAY + DAY),
        (DAILY, NOW - 3 * HOUR, False, 0, TODAY + DAY),
        (DAILY, NOW - 3 * HOUR, "none", 0, TODAY + DAY),
        (DAILY, TODAY - 30 * DAY, True, 30, TODAY - 30 * DAY),
        (DAILY, TODAY - 30 * DAY, False, 1, TODAY - DAY),
        (DAILY, TODAY - 30 * DAY, "none", 0, TODAY),
        (DAILY, TODAY + 10 * DAY, True, 0, TODAY + 10 * DAY),
        (DAILY, TODAY + 10 * DAY, False, 0, TODAY + 10 * DAY),
        (DAILY, TODAY + 10 * DAY, "none", 0, TODAY + 10 * DAY),
        (DAILY, None, True, 1, TODAY - DAY),
        (DAILY, None, False, 1, TODAY - DAY),
        (DAILY, None, "none", 0, TODAY),
        (HOURLY, NOW - 3 * HOUR, True, 2, TODAY + 11 * HOUR),
        (HOURLY, NOW - 3 * HOUR, False, 1, TODAY + 12 * HOUR),
        (HOURLY, NOW - 3 * HOUR, "none", 0, TODAY + 13 * HOUR),
        (HOURLY, TODAY + 10 * HOUR + timedelta(microseconds=1), True, 2, TODAY + 11 * HOUR),
        (EVERY_DAY, NOW - 3 * DAY + HOUR, True, 2, NOW - 3 * DAY + HOUR),
        (EVERY_DAY, NOW - 3 * DAY + HOUR, False, 1, NOW - 2 * DAY + HOUR),
        (EVERY_DAY, NOW - 3 * DAY + HOUR, "none", 0, NOW - DAY + HOUR),
        (EVERY_DAY, None, False, 1, TODAY - DAY),
    ],
)
def test_first_runs_of_a_new_dag(
    timetable: Timetable,
    start_date: datetime | None,
    catchup: Catchup,
    count: int,
    first_start: datetime,
) -> None:
    assert len(due_runs(timetable, start_date, catchup)) == count
    first = plan(timetable, start_date, catchup)
    assert first is not None
    assert first.interval.start == first_start
    assert first.due_at == first.next_cursor == first.interval.end


def test_the_end_date_is_inclusive_on_the_logical_date() -> None:
    start = datetime(2015, 1, 1, tzinfo=UTC)
    created = due_runs(HOURLY, start, True, end_date=start + 2 * HOUR)
    assert [one.interval.start.hour for one in created] == [0, 1, 2]
    assert plan(HOURLY, start, True, created[-1].next_cursor, end_date=start + 2 * HOUR) is None
    before = due_runs(HOURLY, start, True, end_date=start + 2 * HOUR - SECOND)
    assert [one.interval.start.hour for one in before] == [0, 1]


@pytest.mark.parametrize("catchup", [False, "none"])
def test_a_dag_that_ended_long_ago_gets_nothing_without_catchup(catchup: Catchup) -> None:
    start = datetime(2015, 1, 1, tzinfo=UTC)
    assert plan(HOURLY, start, catchup, end_date=start + 2 * HOUR) is None


@pytest.mark.parametrize("catchup", CATCHUPS)
def test_a_scheduler_that_keeps_up_creates_every_interval(catchup: Catchup) -> None:
    cursor, created = TODAY, []
    for passed in range(48):
        now = TODAY + passed * HOUR + 5 * SECOND
        for planned in due_runs(HOURLY, TODAY - 30 * DAY, catchup, cursor, now):
            created.append(planned.interval.start)
            cursor = planned.next_cursor
    assert created == [TODAY + n * HOUR for n in range(47)]


@pytest.mark.parametrize(
    ("catchup", "missed"), [(True, [10, 11, 12]), (False, [12]), ("none", [12])]
)
def test_after_an_outage(catchup: Catchup, missed: list[int]) -> None:
    created = due_runs(HOURLY, TODAY - 30 * DAY, catchup, TODAY + 10 * HOUR)
    assert [one.interval.start for one in created] == [TODAY + n * HOUR for n in missed]


@pytest.mark.parametrize("catchup", CATCHUPS)
def test_a_later_start_date_forbids_what_lies_before_it(catchup: Catchup) -> None:
    planned = plan(HOURLY, TODAY + 13 * HOUR, catchup, cursor=TODAY + 2 * HOUR)
    assert planned is not None
    assert planned.interval.start == TODAY + 13 * HOUR
    assert due_runs(HOURLY, TODAY + 13 * HOUR, catchup, TODAY + 2 * HOUR) == []


@pytest.mark.parametrize("catchup", CATCHUPS)
def test_an_earlier_start_date_does_not_move_the_cursor_back(catchup: Catchup) -> None:
    planned = plan(HOURLY, TODAY - 300 * DAY, catchup, cursor=TODAY + 13 * HOUR)
    assert planned is not None
    assert planned.interval.start == TODAY + 13 * HOUR


def test_a_changed_schedule_goes_on_after_the_cursor_without_overlap() -> None:
    cursor = TODAY - 3 * DAY + 2 * HOUR
    yesterday = due_runs(DAILY, TODAY - 30 * DAY, False, cursor)
    assert [one.interval.start for one in yesterday] == [TODAY - DAY]
    all_of_them = due_runs(DAILY, TODAY - 30 * DAY, True, cursor)
    assert [one.interval.start for one in all_of_them] == [TODAY - 2 * DAY, TODAY - DAY]
    just_now = plan(DAILY, TODAY - 30 * DAY, False, TODAY + 2 * HOUR)
    assert just_now is not None
    assert just_now.interval.start == TODAY + DAY


@pytest.mark.parametrize("catchup", CATCHUPS)
@pytest.mark.parametrize(
    ("start_date", "moment"),
    [
        (None, NOW),
        (
            TODAY - 30 * DAY + timedelta(microseconds=7),
            TODAY - 30 * DAY + timedelta(microseconds=7),
        ),
        (TODAY + 30 * DAY, TODAY + 30 * DAY),
    ],
)
def test_once_is_one_run_and_never_again(
    catchup: Catchup, start_date: datetime | None, moment: datetime
) -> None:
    planned = plan(Once(), start_date, catchup)
    assert planned == ((moment, moment), moment, moment, False)
    assert plan(Once(), start_date, catchup, cursor=planned.next_cursor) is None
    assert plan(Once(), NOW + DAY, catchup, cursor=planned.next_cursor) is None


@pytest.mark.parametrize(
    ("immediately", "now", "first"),
    [
        (False, NOW, TODAY + 14 * HOUR),
        (True, NOW, TODAY + 13 * HOUR),
        (1_200.0, NOW, TODAY + 13 * HOUR),
        (1_199.0, NOW, TODAY + 14 * HOUR),
        (None, NOW, TODAY + 14 * HOUR),
        (None, TODAY + 13 * HOUR + timedelta(minutes=6), TODAY + 13 * HOUR),
    ],
)
@pytest.mark.parametrize("catchup", [True, False])
def test_where_a_trigger_without_a_start_date_begins_and_that_it_stays_there(
    catchup: Catchup, immediately: bool | float | None, now: datetime, first: datetime
) -> None:
    hourly = CronTrigger(("0 * * * *",), "UTC", run_immediately=immediately)
    cursor = opening_cursor(hourly, start_date=None, catchup=catchup, cursor=None, now=now)
    for moment in (now, first + SECOND):
        planned = plan(hourly, None, catchup, cursor, moment)
        assert planned is not None
        assert planned.interval == (first, first)
    other = plan(hourly, None, catchup, planned.next_cursor, first + SECOND)
    assert other is not None
    assert other.interval.start == first + HOUR


@pytest.mark.parametrize(
    ("length", "start", "cursor"),
    [
        (timedelta(0), TODAY, TODAY + timedelta.resolution),
        (HOUR / 2, TODAY + HOUR / 2, TODAY + HOUR),
        (HOUR, TODAY, TODAY + HOUR),
        (3 * HOUR, TODAY, TODAY + HOUR),
    ],
)
def test_the_cursor_passes_a_trigger_but_not_the_next_that_overlaps_it(
    length: timedelta, start: datetime, cursor: datetime
) -> None:
    hourly = CronTrigger(("0 * * * *",), "UTC", interval=length.total_seconds())
    planned = plan(hourly, TODAY, True)
    assert planned is not None
    assert planned.interval == (start, start + length)
    assert planned.next_cursor == cursor


def test_events_without_a_start_date_are_caught_up_from_the_first() -> None:
    events = Events((TODAY - 9 * DAY, TODAY - DAY, TODAY + DAY))
    assert [one.interval.start for one in due_runs(events, None, True)] == [
        TODAY - 9 * DAY,
        TODAY - DAY,
    ]
    assert [one.interval.start for one in due_runs(events, None, False)] == [TODAY - DAY]
    assert due_runs(events, None, "none") == []
    following = plan(events, None, "none")
    assert following is not None
    assert following.interval.start == TODAY + DAY
    assert plan(events, None, True, cursor=TODAY + 2 * DAY) is None


def test_a_continuous_run_covers_what_passed_since_the_last_one() -> None:
    planned = plan(Continuous(), TODAY, False)
    assert planned == ((TODAY, NOW), NOW, NOW, True)
    later = plan(Continuous(), TODAY, False, cursor=NOW, now=NOW + HOUR)
    assert later is not None
    assert later.interval == (NOW, NOW + HOUR)
    ahead = plan(Continuous(), NOW + DAY, False)
    assert ahead is not None
    assert ahead.due_at > ahead.interval.start == NOW + DAY
    assert plan(Continuous(), TODAY, False, cursor=NOW, end_date=NOW - SECOND) is None


def test_once_respects_the_end_date() -> None:
    assert plan(Once(), TODAY, True, end_date=TODAY) is not None
    assert plan(Once(), TODAY, True, end_date=TODAY - SECOND) is None


def test_never_is_never() -> None:
    assert plan(Never(), TODAY, True) is None


def test_a_naive_moment_is_refused() -> None:
    naive = datetime(2026, 3, 15)
    for moments in ({"now": naive}, {"cursor": naive}, {"end_date": naive}):
        with pytest.raises(ValueError, match="no time zone"):
            plan(HOURLY, TODAY, True, **moments)
    with pytest.raises(ValueError, match="no time zone"):
        plan(HOURLY, naive, True)


moments = st.datetimes(
    datetime(2026, 3, 27), datetime(2026, 3, 31), timezones=st.just(UTC)
)  # around the gap in Zurich
timetables = st.sampled_from(
    [
        CronInterval("30 2 * * *", "Europe/Zurich"),
        CronInterval("0 */2 * * *", "Europe/Zurich"),
        CronInterval("*/30 * * * *", "Europe/Zurich"),
        DeltaInterval(5_000.0),
        DeltaInterval(86_400.0),
    ]
)


@settings(max_examples=300)
@given(
    timetable=timetables,
    start_date=st.none() | moments,
    catchup=st.sampled_from(CATCHUPS),
    cursor=st.none() | moments,
    now=moments,
)
def test_what_holds_for_every_plan(
    timetable: Timetable,
    start_date: datetime | None,
    catchup: Catchup,
    cursor: datetime | None,
    now: datetime,
) -> None:
    planned = plan(timetable, start_date, catchup, cursor, now)
    assert planned is not None
    start, end = planned.interval
    assert start < end == planned.due_at
    assert cursor is None or start >= cursor
    assert cursor is None or planned.next_cursor > cursor
    assert start_date is None or start >= start_date
    complete = latest_complete(timetable, now, start_date)
    assert complete is not None
    if catchup is not True:
        assert start >= complete.start
    if catchup == "none" and cursor is None:
        assert planned.due_at > now
    created = due_runs(timetable, start_date, catchup, cursor, now)
    assert all(one.interval.end == other.interval.start for one, other in pairwise(created))
    assert catchup is True or len(created) <= 1
    if complete.start >= max(start_date or complete.start, cursor or complete.start) and (
        catchup is not True and (catchup is False or cursor is not None)
    ):
        assert [one.interval for one in created] == [complete]
