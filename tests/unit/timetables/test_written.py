"""Timetables as DAG files write them, and what is stored of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pendulum
import pytest

import flow
from flow.errors import InvalidDag
from flow.timetables import (
    Continuous,
    CronInterval,
    CronTrigger,
    DeltaInterval,
    DeltaTrigger,
    Events,
    Never,
    Once,
    Timetable,
    intervals_from,
    parse,
)
from flow.timetables.hashed import settle

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ZURICH = "Europe/Zurich"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "stored", "words"),
    [
        (
            flow.CronDataIntervalTimetable("@daily", timezone="Asia/Tokyo"),
            CronInterval("0 0 * * *", "Asia/Tokyo"),
            "every day at 00:00 Asia/Tokyo",
        ),
        (
            flow.CronDataIntervalTimetable(" 0  3 * * * "),
            CronInterval("0 3 * * *", ZURICH),
            "every day at 03:00 Europe/Zurich",
        ),
        (
            flow.CronTriggerTimetable("0 3 * * *", timezone="UTC"),
            CronTrigger(("0 3 * * *",), "UTC"),
            "every day at 03:00 UTC",
        ),
        (
            flow.CronTriggerTimetable(
                "0 18 * * 5",
                timezone=pendulum.timezone("America/New_York"),
                interval=timedelta(days=4, hours=9),
                run_immediately=timedelta(hours=1),
            ),
            CronTrigger(("0 18 * * 5",), "America/New_York", 378_000.0, 3_600.0),
            "every Friday at 18:00 America/New_York, for the 105 hours before",
        ),
        (
            flow.MultipleCronTriggerTimetable("10 * * * *", "@daily", timezone=ZoneInfo(ZURICH)),
            CronTrigger(("10 * * * *", "0 0 * * *"), ZURICH),
            "every hour at minute 10 (Europe/Zurich); every day at 00:00 Europe/Zurich",
        ),
        (flow.DeltaDataIntervalTimetable(6 * HOUR), DeltaInterval(21_600.0), "every 6 hours"),
        (
            flow.DeltaTriggerTimetable(6 * HOUR, interval=DAY),
            DeltaTrigger(21_600.0, 86_400.0),
            "every 6 hours, for the 24 hours before",
        ),
        (
            flow.EventsTimetable(
                [utc("2026-05-02"), datetime(2026, 3, 29, 12), utc("2026-05-02")],
                restrict_to_events=True,
                description="finals",
            ),
            Events((utc("2026-03-29T10:00"), utc("2026-05-02")), "finals"),
            "finals: at 2 dates from 2026-03-29T10:00:00+00:00 to 2026-05-02T00:00:00+00:00",
        ),
        (flow.EventsTimetable([]), Events(()), "no dates"),
        (flow.NullTimetable(), Never(), "no schedule"),
        (flow.OnceTimetable(), Once(), "once"),
        (
            flow.ContinuousTimetable(),
            Continuous(),
            "without a pause, each run after the one before",
        ),
    ],
)
def test_what_is_stored_and_its_words(written: Any, stored: Timetable, words: str) -> None:
    timetable = parse(written, ZURICH, "sales")
    assert timetable == stored
    assert timetable.words() == words
    text = msgspec.json.encode(timetable, order="deterministic")
    assert msgspec.json.decode(text, type=Timetable) == timetable


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (flow.CronTriggerTimetable("60 * * * *"), "'60'"),
        (flow.CronTriggerTimetable("@once"), "'@once'"),
        (flow.CronTriggerTimetable("0 0 * * *", timezone="Mars/Base"), "Mars/Base"),
        (flow.CronTriggerTimetable("0 0 * * *", interval=-HOUR), "-3600 seconds"),
        (flow.CronTriggerTimetable("0 0 * * *", interval=3_600), "interval must be a timedelta"),
        (flow.CronTriggerTimetable("0 0 * * *", run_immediately="yes"), "run_immediately"),
        (flow.MultipleCronTriggerTimetable(timezone="UTC"), "needs a cron expression"),
        (flow.DeltaDataIntervalTimetable(timedelta(0)), "every 0 seconds"),
        (flow.DeltaTriggerTimetable(pendulum.duration(months=1)), "calendar months"),
        (pendulum.duration(years=1), "calendar months"),
        (flow.EventsTimetable(["2026-01-01"]), "'2026-01-01' is no datetime"),
        (
            flow.EventsTimetable(utc("2026-01-01") + n * HOUR for n in range(10_001)),
            "10001 event dates are too many",
        ),
    ],
)
def test_what_cannot_be_is_refused(written: Any, message: str) -> None:
    with pytest.raises(InvalidDag) as refusal:
        parse(written, "UTC")
    assert message in f"{refusal.value.message} {refusal.value.hint}"
    assert refusal.value.hint


@pytest.mark.parametrize(
    "stored",
    [
        DeltaInterval(0.0),
        DeltaInterval(float("nan")),
        DeltaTrigger(3_600.0, float("inf")),
        CronInterval("H H * * *", "UTC"),
        CronTrigger((), "UTC"),
        CronTrigger(("0 0 * * *",), "UTC", 0.0, float("nan")),
        Events((utc("2026-01-02"), utc("2026-01-01"))),
    ],
)
def test_what_nobody_can_write_is_not_believed_either(stored: Timetable) -> None:
    """A spec comes from a process that runs a file's own code."""
    with pytest.raises(InvalidDag):
        stored.check()


# ── hashed values ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("written", "settled"),
    [
        ("H H * * *", "43 15 * * *"),
        ("H(0-29) * * * *", "13 * * * *"),
        ("H/15 * * * *", "13-59/15 * * * *"),
        ("h(5-20)/5 2 * * 1-5", "8-20/5 2 * * 1-5"),
        ("0,H 2 H H H", "0,43 2 10 9 2"),
        ("0 0 * * THU", "0 0 * * THU"),
        ("0 0 * MAR *", "0 0 * MAR *"),
    ],
)
def test_hashed_values_are_the_dags_own_and_stay(written: str, settled: str) -> None:
    assert settle(written, "sales") == settled
    assert parse(written, "UTC", "sales") == CronInterval(settled, "UTC")


def test_hashed_values_spread_dags_over_all_values() -> None:
    minutes = {settle("H * * * *", f"dag_{n}").split()[0] for n in range(1_000)}
    assert minutes == {str(minute) for minute in range(60)}
    hours = [settle("H H * * *", f"dag_{n}").split()[1] for n in range(1_000)]
    assert max(hours.count(hour) for hour in set(hours)) < 80


@pytest.mark.parametrize("field", [f"H/{step}" for step in range(1, 61)])
def test_a_hashed_step_begins_below_the_step(field: str) -> None:
    step = int(field.removeprefix("H/"))
    timetable = parse(f"{field} * * * *", "UTC", "sales")
    found = [one.start for one in islice(intervals_from(timetable, utc("2026-01-01")), 120)]
    assert found[0].minute < step
    assert {b - a for a, b in pairwise(found) if a.hour == b.hour} <= {timedelta(minutes=step)}


# ── in a DAG ─────────────────────────────────────────────────────────────────────────────────────


def test_a_dag_reads_a_timetable_in_its_own_zone_and_for_its_own_id() -> None:
    dag = flow.DAG(
        "sales",
        schedule=flow.CronTriggerTimetable("H 3 * * *"),
        start_date=datetime(2026, 1, 1, tzinfo=ZoneInfo(ZURICH)),
    )
    assert dag.timetable == CronTrigger(("43 3 * * *",), ZURICH)


def test_a_dag_names_its_line_where_a_timetable_is_wrong() -> None:
    with pytest.raises(InvalidDag, match=r"test_written\.py:\d+: schedule '99 \* \* \* \*'"):
        flow.DAG("sales", schedule=flow.CronTriggerTimetable("99 * * * *"))
    with pytest.raises(InvalidDag, match=r"test_written\.py:\d+: the fixed offset 5:30:00"):
        flow.DAG(
            "sales",
            schedule=flow.CronTriggerTimetable(
                "9 * * * *", timezone=pendulum.fixed_timezone(5 * 3_600 + 1_800)
            ),
        )
