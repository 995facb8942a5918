"""Date arguments, in every form and at the edges of clock changes."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from flow.dates import parse_date
from flow.errors import UsageError

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 10, 9, 22, 30, 15, tzinfo=UTC)  # already the 10th in Berlin


def meaning(text: str, zone=BERLIN, now=NOW) -> tuple[str, str]:
    found = parse_date(text, zone, now)
    return found.start.isoformat(), found.end.isoformat()


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-10-09", "2026-10-09T00:00:00+02:00", "2026-10-10T00:00:00+02:00"),
        ("today", "2026-10-10T00:00:00+02:00", "2026-10-11T00:00:00+02:00"),
        ("yesterday", "2026-10-09T00:00:00+02:00", "2026-10-10T00:00:00+02:00"),
        ("-7d", "2026-10-03T00:00:00+02:00", "2026-10-04T00:00:00+02:00"),
        ("-1w", "2026-10-03T00:00:00+02:00", "2026-10-04T00:00:00+02:00"),
        # the day on which clocks are put back has 25 hours
        ("2026-10-25", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
    ],
)
def test_a_day_is_the_whole_local_day(text, start, end):
    assert meaning(text) == (start, end)
    assert parse_date(text, BERLIN, NOW).whole_day


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-10-09T06:00", "2026-10-09T06:00:00+02:00"),
        ("2026-10-09 06:00:30", "2026-10-09T06:00:30+02:00"),
        ("2026-10-09T06:00:00.123456", "2026-10-09T06:00:00.123456+02:00"),
        ("2026-10-09T06:00Z", "2026-10-09T06:00:00+00:00"),
        ("2026-10-09T06:00+05:30", "2026-10-09T06:00:00+05:30"),
        ("2026-10-25T02:30+01:00", "2026-10-25T02:30:00+01:00"),
        ("-6h", "2026-10-09T18:30:15+02:00"),
        ("-90m", "2026-10-09T23:00:15+02:00"),
    ],
)
def test_a_moment_is_a_moment(text, moment):
    assert meaning(text) == (moment, moment)
    assert not parse_date(text, BERLIN, NOW).whole_day


def test_a_day_without_midnight_begins_at_its_first_moment():
    assert meaning("2026-03-29", ZoneInfo("Asia/Beirut")) == (
        "2026-03-29T01:00:00+03:00",
        "2026-03-30T00:00:00+03:00",
    )


def test_hours_ago_are_counted_over_a_clock_change():
    now = datetime(2026, 10, 25, 2, 0, tzinfo=UTC)  # 03:00+01:00, one hour after the change
    assert meaning("-2h", now=now)[0] == "2026-10-25T02:00:00+02:00"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "2026-03-29T02:30",
            "2026-03-29T02:30:00 does not exist in Europe/Berlin: clocks are put forward over it",
            "The next moment that exists is 2026-03-29T03:30:00+02:00.",
        ),
        (
            "2026-10-25T02:30",
            "2026-10-25T02:30:00 happens twice in Europe/Berlin: clocks are put back over it",
            "Write 2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00.",
        ),
        (
            "2026-02-30",
            "there is no date '2026-02-30': day is out of range for month",
            "Write 2026-10-09, 2026-10-09T06:00, 2026-10-09T06:00+02:00, yesterday, today or -7d.",
        ),
    ],
)
def test_a_local_time_that_is_none_or_two_is_refused(text, message, hint):
    with pytest.raises(UsageError) as caught:
        parse_date(text, BERLIN, NOW)
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize("text", ["", "soon", "09.10.2026", "20261009", "7d", "-7y", "2026-W41-5"])
def test_what_is_no_date_is_refused(text):
    with pytest.raises(UsageError, match="is not a date"):
        parse_date(text, BERLIN, NOW)


@pytest.mark.parametrize("text", ["-9999999d", "-99999999999999w", "9999-12-31", "0001-01-01"])
def test_what_lies_outside_of_time_is_refused_or_read(text):
    try:
        found = parse_date(text, BERLIN, NOW)
    except UsageError as error:
        assert error.message.startswith("there is no date")
    else:
        assert found.start < found.end
