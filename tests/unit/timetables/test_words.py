"""The plain words of a timetable, each beside what it really does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from flow.timetables import CronInterval, intervals_from, parse


@pytest.mark.parametrize(
    ("expression", "words", "first"),
    [
        (
            "30 2 * * *",
            "every day at 02:30 UTC",
            ["12-01 02:30", "12-02 02:30", "12-03 02:30"],
        ),
        (
            "0 7,9 * * *",
            "every day at 07:00 and 09:00 UTC",
            ["12-01 07:00", "12-01 09:00", "12-02 07:00"],
        ),
        (
            "0 * * * *",
            "every hour on the hour (UTC)",
            ["12-01 00:00", "12-01 01:00", "12-01 02:00"],
        ),
        (
            "*/45 * * * *",
            "every hour at minutes 0 and 45 (UTC)",
            ["12-01 00:00", "12-01 00:45", "12-01 01:00"],
        ),
        (
            "*/15 9-17 * * 1-5",
            "every 15 minutes of the hours 9 to 17, every day from Monday to Friday (UTC)",
            ["12-02 09:00", "12-02 09:15", "12-02 09:30"],
        ),
        (
            "0 */3 * * *",
            "every day at minute 0 of the hours 0, 3, 6, 9, 12, 15, 18 and 21 (UTC)",
            ["12-01 00:00", "12-01 03:00", "12-01 06:00"],
        ),
        (
            "* 4 * * *",
            "every minute of the hour 4 (UTC)",
            ["12-01 04:00", "12-01 04:01", "12-01 04:02"],
        ),
        (
            "0 10 1-7 * 1",
            "on days 1 to 7 of the month and also every Monday, at 10:00 UTC",
            ["12-01 10:00", "12-02 10:00", "12-03 10:00"],
        ),
        (
            "0 0 */1 * 5",
            "every Friday at 00:00 UTC",
            ["12-06 00:00", "12-13 00:00", "12-20 00:00"],
        ),
        (
            "* * */1 * 5",
            "every minute, every Friday (UTC)",
            ["12-06 00:00", "12-06 00:01", "12-06 00:02"],
        ),
        (
            "0 0 */10 * 3",
            "on days 1, 11, 21 and 31 of the month if it is a Wednesday, at 00:00 UTC",
            ["12-11 00:00", "01-01 00:00", "05-21 00:00"],
        ),
        (
            "0 0 1-31 * 5",
            "every day at 00:00 UTC",
            ["12-01 00:00", "12-02 00:00", "12-03 00:00"],
        ),
        (
            "0 0 * * 7,MON#1",
            "every Sunday and on the first Monday of the month at 00:00 UTC",
            ["12-01 00:00", "12-02 00:00", "12-08 00:00"],
        ),
        (
            "0 0 L * *",
            "on the last day of the month at 00:00 UTC",
            ["12-31 00:00", "01-31 00:00", "02-28 00:00"],
        ),
        (
            "0 0 1,LW * *",
            "on day 1 and the last workday (Monday to Friday) of the month at 00:00 UTC",
            ["12-01 00:00", "12-31 00:00", "01-01 00:00"],
        ),
        (
            "0 0 1 */3 *",
            "on day 1 of the month in January, April, July and October at 00:00 UTC",
            ["01-01 00:00", "04-01 00:00", "07-01 00:00"],
        ),
    ],
)
def test_words_say_what_the_cron_does(expression: str, words: str, first: list[str]) -> None:
    timetable = CronInterval(expression, "UTC")
    assert timetable.words() == words
    found = [
        f"{interval.start:%m-%d %H:%M}"
        for interval in islice(
            intervals_from(timetable, datetime(2024, 12, 1, tzinfo=UTC)), len(first)
        )
    ]
    assert found == first


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (timedelta(days=1), "every 24 hours"),
        (timedelta(days=7), "every 7 days of 24 hours"),
        (timedelta(hours=1), "every hour"),
        (timedelta(hours=6), "every 6 hours"),
        (timedelta(minutes=90), "every 90 minutes"),
        (timedelta(seconds=1.5), "every 1.5 seconds"),
        (timedelta(seconds=100), "every 100 seconds"),
        ("@once", "once"),
        ("@daily", "every day at 00:00 Europe/Zurich"),
        (None, "no schedule"),
    ],
)
def test_words_of_the_other_kinds(schedule: str | timedelta | None, words: str) -> None:
    assert parse(schedule, "Europe/Zurich").words() == words
