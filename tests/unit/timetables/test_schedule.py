"""What a DAG file may write as its schedule, and how the rest is refused."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from flow.errors import InvalidDag
from flow.timetables import Continuous, CronInterval, DeltaInterval, Never, Once, Timetable, parse


@pytest.mark.parametrize(
    ("schedule", "timetable"),
    [
        ("@hourly", CronInterval("0 * * * *", "Europe/Zurich")),
        ("@daily", CronInterval("0 0 * * *", "Europe/Zurich")),
        ("@midnight", CronInterval("0 0 * * *", "Europe/Zurich")),
        ("@weekly", CronInterval("0 0 * * 0", "Europe/Zurich")),
        ("@monthly", CronInterval("0 0 1 * *", "Europe/Zurich")),
        ("@quarterly", CronInterval("0 0 1 */3 *", "Europe/Zurich")),
        ("@yearly", CronInterval("0 0 1 1 *", "Europe/Zurich")),
        ("@annually", CronInterval("0 0 1 1 *", "Europe/Zurich")),
        ("@once", Once()),
        (" @Continuous ", Continuous()),
        (None, Never()),
        (timedelta(hours=1.5), DeltaInterval(5_400.0)),
        ("  30  2 * * mon-fri ", CronInterval("30 2 * * mon-fri", "Europe/Zurich")),
        ("0 0 * * MON#1", CronInterval("0 0 * * MON#1", "Europe/Zurich")),
    ],
)
def test_a_schedule_becomes_a_timetable(
    schedule: str | timedelta | None, timetable: Timetable
) -> None:
    assert parse(schedule, "Europe/Zurich") == timetable


@pytest.mark.parametrize(
    ("schedule", "named"),
    [
        ("60 * * * *", "'60'"),
        ("0 24 * * *", "'24'"),
        ("0 0 0 * *", "'0'"),
        ("0 0 * 13 *", "'13'"),
        ("0 0 * * 8", "'8'"),
        ("0 0 * * FRI-MON", "'FRI-MON'"),
        ("0 0 * * MON#6", "'MON#6'"),
        ("0 0 15W * *", "'15W'"),
        ("0 0 L-3 * *", "'L-3'"),
        ("0 0 L/2 * *", "'L/2'"),
        ("0 0 ? * 1", "'?'"),
        ("*/90 * * * *", "'*/90'"),
        ("*/0 * * * *", "'*/0'"),
        ("0 0 30 2 *", "no day ever matches"),
        ("0 0 LW * */6", "no day ever matches"),
        ("R 2 * * *", "'R'"),
        ("H(0-60) * * * *", "'H(0-60)'"),
        ("H/61 * * * *", "'H/61'"),
        ("0 H(5-3) * * *", "'H(5-3)'"),
        ("0 0 H(29-31) * *", "'H(29-31)'"),
        ("H-5 * * * *", "'H-5'"),
        ("0 0 0 * * *", "6 fields"),
        ("0 0 0 * * * 2024", "7 fields"),
        ("daily", "'daily'"),
        ("@fortnightly", "'@fortnightly'"),
        ("", "''"),
        (timedelta(0), "every 0 seconds"),
        (timedelta(days=-1), "every -86400 seconds"),
        (timedelta.max, "a hundred years"),
        (["0 0 * * *"], "list is not supported yet"),
        (True, "bool is not supported yet"),
    ],
)
def test_anything_else_is_refused_by_name(schedule: Any, named: str) -> None:
    with pytest.raises(InvalidDag) as refusal:
        parse(schedule, "UTC")
    assert named in refusal.value.message
    assert "accepted" in refusal.value.message or "no day ever" in refusal.value.message
    assert refusal.value.hint


@pytest.mark.parametrize("name", ["Mars/Olympus", "Europe", "../UTC", "", "+02:00"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(InvalidDag, match="IANA"):
        parse(None, name)


@pytest.mark.parametrize(
    "timetable",
    [CronInterval("0 0 * * *", "UTC"), DeltaInterval(0.1 + 0.2), Once(), Never()],
)
def test_a_timetable_survives_json(timetable: Timetable) -> None:
    text = msgspec.json.encode(timetable, order="deterministic")
    assert msgspec.json.decode(text, type=Timetable) == timetable


def test_the_package_is_lean() -> None:
    heavy = "pendulum", "psycopg", "sqlalchemy", "typer", "rich", "textual", "asyncio"
    program = f"import flow.timetables, sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
