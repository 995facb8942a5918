"""Boundaries of cron and delta timetables on the days that are known to go wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from flow.timetables import (
    CronInterval,
    DeltaInterval,
    Interval,
    Never,
    Once,
    Timetable,
    interval_of,
    intervals_from,
    latest_complete,
    neighbours,
    next_interval,
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def local(text: str, zone: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def intervals(
    timetable: Timetable, start: datetime, count: int, anchor: datetime | None = None
) -> list[Interval]:
    return list(islice(intervals_from(timetable, start, anchor), count))


def starts(expression: str, zone: str, day: str, count: int) -> list[str]:
    """Local starts from a local midnight on, such as "08 02:30-06:00"."""
    found = intervals(CronInterval(expression, zone), local(day, zone), count)
    shown = [one.start.astimezone(ZoneInfo(zone)) for one in found]
    return [f"{moment:%d} {moment.isoformat()[11:16]}{moment.isoformat()[-6:]}" for moment in shown]


def test_a_slot_in_the_gap_is_moved_and_the_next_day_is_back() -> None:
    assert starts("30 2 * * *", "America/Chicago", "2024-03-08", 5) == [
        "08 02:30-06:00",
        "09 02:30-06:00",
        "10 03:30-05:00",
        "11 02:30-05:00",
        "12 02:30-05:00",
    ]


def test_a_repeated_slot_fires_once_at_its_second_pass() -> None:
    assert starts("30 1 * * *", "America/Chicago", "2024-11-02", 3) == [
        "02 01:30-05:00",
        "03 01:30-06:00",
        "04 01:30-06:00",
    ]


@pytest.mark.parametrize(
    ("expression", "day", "hours"),
    [
        # The gap of 29 March 2026 is 02:00 to 03:00.
        ("0 2 * * *", "2026-03-29", ["29 03:00+02:00", "30 02:00+02:00"]),
        ("0 3 * * *", "2026-03-29", ["29 03:00+02:00", "30 03:00+02:00"]),
        ("0 2,3 * * *", "2026-03-29", ["29 03:00+02:00", "30 02:00+02:00"]),
        (
            "30 * * * *",
            "2026-03-29",
            ["29 00:30+01:00", "29 01:30+01:00", "29 03:30+02:00", "29 04:30+02:00"],
        ),
        (
            "*/30 1-4 * * *",
            "2026-03-29",
            [
                "29 01:00+01:00",
                "29 01:30+01:00",
                "29 03:00+02:00",
                "29 03:30+02:00",
                "29 04:00+02:00",
            ],
        ),
        ("0 */2 * * *", "2026-03-29", ["29 00:00+01:00", "29 03:00+02:00", "29 04:00+02:00"]),
        # The fold of 25 October 2026 is 02:00 to 03:00.
        ("30 2 * * *", "2026-10-25", ["25 02:30+01:00", "26 02:30+01:00"]),
        (
            "30 * * * *",
            "2026-10-25",
            [
                "25 00:30+02:00",
                "25 01:30+02:00",
                "25 02:30+02:00",
                "25 02:30+01:00",
                "25 03:30+01:00",
            ],
        ),
        (
            "*/30 1-2 * * *",
            "2026-10-25",
            [
                "25 01:00+02:00",
                "25 01:30+02:00",
                "25 02:00+02:00",
                "25 02:30+02:00",
                "25 02:00+01:00",
                "25 02:30+01:00",
                "26 01:00+01:00",
            ],
        ),
        ("0 */2 * * *", "2026-10-25", ["25 00:00+02:00", "25 02:00+01:00", "25 04:00+01:00"]),
    ],
)
def test_the_rule_around_both_transitions(expression: str, day: str, hours: list[str]) -> None:
    assert starts(expression, "Europe/Zurich", day, len(hours)) == hours


@pytest.mark.parametrize(
    ("expression", "zone", "day", "hours"),
    [
        ("0 7-8 * * *", "America/Los_Angeles", "2020-03-06", {7, 8}),
        ("0 7-8 * * *", "America/Los_Angeles", "2020-10-30", {7, 8}),
        ("0 7,9 * * *", "America/Los_Angeles", "2020-03-06", {7, 9}),
        ("0 7,9 * * *", "America/Los_Angeles", "2020-10-30", {7, 9}),
    ],
)
def test_several_hours_stay_at_their_hours_and_never_end(
    expression: str, zone: str, day: str, hours: set[int]
) -> None:
    found = intervals(CronInterval(expression, zone), local(day, zone), 40)
    clocks = [one.start.astimezone(ZoneInfo(zone)) for one in found]
    assert len(found) == 40
    assert {moment.hour for moment in clocks} == hours
    assert len({moment.date() for moment in clocks}) == 20


def test_every_second_hour_in_toronto_on_the_gap_day() -> None:
    assert starts("0 */2 * * *", "America/Toronto", "2023-03-12", 4) == [
        "12 00:00-05:00",
        "12 03:00-04:00",
        "12 04:00-04:00",
        "12 06:00-04:00",
    ]


def test_a_day_that_a_zone_skipped_has_no_run_of_its_own() -> None:
    # Samoa went from 29 December 2011 straight to the 31st.
    assert starts("0 8 * * *", "Pacific/Apia", "2011-12-28", 4) == [
        "28 08:00-10:00",
        "29 08:00-10:00",
        "31 08:00+14:00",
        "01 08:00+14:00",
    ]


def test_a_delta_keeps_its_distance_in_utc() -> None:
    start = local("2024-03-08", "America/Chicago")
    found = intervals(DeltaInterval(86_400.0), start, 5, anchor=start)
    assert found[0].start == start
    assert {one.end - one.start for one in found} == {timedelta(days=1)}
    assert [one.end for one in found[:-1]] == [one.start for one in found[1:]]


def test_a_delta_is_counted_from_its_anchor_in_both_directions() -> None:
    anchor = utc("2024-01-01T00:20:00.5")
    hourly = DeltaInterval(3_600.0)
    assert next_interval(hourly, utc("2024-01-03T05:00"), anchor) == (
        utc("2024-01-03T05:20:00.5"),
        utc("2024-01-03T06:20:00.5"),
    )
    assert latest_complete(hourly, utc("2023-12-31T23:20:00.5"), anchor) == (
        utc("2023-12-31T22:20:00.5"),
        utc("2023-12-31T23:20:00.5"),
    )
    assert next_interval(hourly, utc("2024-01-03T05:00:01")) == (
        utc("2024-01-03T06:00"),
        utc("2024-01-03T07:00"),
    )


def test_a_leap_day_jumps_over_the_years_between_and_over_2100() -> None:
    leap = CronInterval("0 0 29 2 *", "UTC")
    years = [one.start.year for one in intervals(leap, utc("2019-01-01"), 3)]
    assert years == [2020, 2024, 2028]
    assert next_interval(leap, utc("2096-01-01")) == (utc("2096-02-29"), utc("2104-02-29"))
    assert latest_complete(leap, utc("2104-02-29")) == (utc("2096-02-29"), utc("2104-02-29"))


@pytest.mark.parametrize(
    ("expression", "days"),
    [
        ("0 10 1-7 * 1", [1, 2, 3, 4, 5, 6, 7, 9, 16, 23, 30]),
        ("0 10 * * MON#1", [2]),
        ("0 10 */1 * 5", [6, 13, 20, 27]),
        ("0 10 * * 5", [6, 13, 20, 27]),
        ("0 10 */10 * 3", [11]),
        ("0 10 L * *", [31]),
        ("0 10 * * 5L", [27]),
    ],
)
def test_days_of_december_2024(expression: str, days: list[int]) -> None:
    found = intervals(CronInterval(expression, "UTC"), utc("2024-12-01"), len(days) + 1)
    assert [one.start.day for one in found[:-1]] == days
    assert found[-1].start >= utc("2025-01-01")


def test_microseconds_do_not_leak_into_cron_boundaries() -> None:
    hourly = CronInterval("0 * * * *", "UTC")
    assert next_interval(hourly, utc("2024-01-01T00:00:00.123456")) == (
        utc("2024-01-01T01:00"),
        utc("2024-01-01T02:00"),
    )
    assert latest_complete(hourly, utc("2024-01-01T02:00:00.123456")) == (
        utc("2024-01-01T01:00"),
        utc("2024-01-01T02:00"),
    )


def test_an_interval_is_complete_at_its_end_and_not_before() -> None:
    daily = CronInterval("0 0 * * *", "UTC")
    end = utc("2024-01-02")
    assert latest_complete(daily, end) == (utc("2024-01-01"), end)
    assert latest_complete(daily, end - timedelta.resolution) == (
        utc("2023-12-31"),
        utc("2024-01-01"),
    )


def test_neighbours_of_a_moment_that_is_no_start() -> None:
    daily = CronInterval("0 0 * * *", "Europe/Zurich")
    noon = local("2026-03-29T12:00", "Europe/Zurich")
    assert interval_of(daily, noon) is None
    assert neighbours(daily, noon) == (
        local("2026-03-29", "Europe/Zurich"),
        local("2026-03-30", "Europe/Zurich"),
    )
    midnight = local("2026-03-29", "Europe/Zurich")
    assert interval_of(daily, midnight)
    assert interval_of(daily, midnight + timedelta.resolution) is None
    assert neighbours(daily, midnight) == (
        local("2026-03-28", "Europe/Zurich"),
        local("2026-03-30", "Europe/Zurich"),
    )


def test_once_has_one_empty_interval_at_its_anchor() -> None:
    anchor = utc("2024-01-01T00:00:00.123456")
    only = Interval(anchor, anchor)
    assert next_interval(Once(), utc("2023-01-01"), anchor) == only
    assert next_interval(Once(), utc("2025-01-01"), anchor) is None
    assert intervals(Once(), utc("2023-01-01"), 9, anchor) == [only]
    assert latest_complete(Once(), utc("2025-01-01"), anchor) == only
    assert latest_complete(Once(), utc("2023-01-01"), anchor) is None
    assert interval_of(Once(), anchor, anchor)
    assert neighbours(Once(), utc("2025-01-01"), anchor) == (anchor, None)
    assert neighbours(Once(), utc("2023-01-01"), anchor) == (None, anchor)


def test_never_has_no_interval() -> None:
    moment = utc("2024-01-01")
    assert next_interval(Never(), moment) is None
    assert latest_complete(Never(), moment) is None
    assert interval_of(Never(), moment) == (moment, moment)
    assert neighbours(Never(), moment) == (None, None)


@pytest.mark.parametrize("timetable", [CronInterval("0 0 * * *", "UTC"), DeltaInterval(3_600.0)])
def test_nothing_lies_beyond_the_calendar(timetable: Timetable) -> None:
    last = datetime.max.replace(tzinfo=UTC)
    first = datetime.min.replace(tzinfo=UTC)
    assert next_interval(timetable, last) is None
    assert next_interval(timetable, last - timedelta(hours=1)) is None
    assert latest_complete(timetable, first) is None
    assert neighbours(timetable, first)[0] is None


def test_a_naive_moment_is_refused() -> None:
    daily = CronInterval("0 0 * * *", "UTC")
    with pytest.raises(ValueError, match="no time zone"):
        next_interval(daily, datetime(2024, 1, 1))
    with pytest.raises(ValueError, match="no time zone"):
        next_interval(daily, utc("2024-01-01"), datetime(2024, 1, 1))


def test_answers_are_in_utc_whatever_zone_the_question_is_in() -> None:
    found = next_interval(
        CronInterval("0 0 * * *", "Asia/Tokyo"), local("2024-01-01", "Asia/Tokyo")
    )
    assert found is not None
    assert found.start.tzinfo is UTC
    assert found.start.isoformat() == "2023-12-31T15:00:00+00:00"
