"""T01: a daily schedule has exactly one run for each local day, also where clocks change.

Intervals touch each other. A time that does not exist on a day is moved forward by the length of
the gap, and one that exists twice is taken at its second pass; the day after is back at the time as
written. A timedelta keeps its distance in UTC instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.scheduled import Interval, by_dag, coming, intervals, moment, schedule

NEEDS: list[str] = []

BREAKS = [
    # The gap's time is taken as it would be on the clock before the change: an hour early.
    Break(
        "engine/flow/timetables/ticks.py",
        "    return {max(first_pass, second_pass)}\n",
        "    return {min(first_pass, second_pass)}\n",
        test="test_each_local_day_has_one_run",
    ),
    # What is twice fires twice, what is missing is missing.
    Break(
        "engine/flow/timetables/ticks.py",
        "    if cron.has_rhythm and first_pass < second_pass:\n",
        "    if first_pass < second_pass:\n",
        test="test_each_local_day_has_one_run",
    ),
]

DAY: Final = timedelta(days=1)


class Change(NamedTuple):
    """A daily schedule around a day on which the clocks of its zone change."""

    zone: str
    at: str
    """Wall time of the schedule."""
    day: date
    """When clocks change."""
    utc: str
    """Where that day's slot is by the rule."""


CHANGES: Final = {
    "gap": Change("America/Chicago", "02:30", date(2024, 3, 10), "2024-03-10T08:30"),
    "fold": Change("America/Chicago", "01:30", date(2024, 11, 3), "2024-11-03T07:30"),
    "after_gap": Change("America/Chicago", "03:00", date(2024, 3, 10), "2024-03-10T08:00"),
    "zurich_gap": Change("Europe/Zurich", "02:00", date(2026, 3, 29), "2026-03-29T01:00"),
    "zurich_fold": Change("Europe/Zurich", "02:30", date(2025, 10, 26), "2025-10-26T01:30"),
    "half_hour_gap": Change("Australia/Lord_Howe", "02:15", date(2025, 10, 5), "2025-10-04T15:45"),
    "half_hour_fold": Change("Australia/Lord_Howe", "01:45", date(2025, 4, 6), "2025-04-05T15:15"),
    "no_midnight": Change("America/Sao_Paulo", "00:00", date(2018, 11, 4), "2018-11-04T03:00"),
    "two_hours": Change("Antarctica/Troll", "02:10", date(2025, 3, 30), "2025-03-30T02:10"),
    "quiet": Change("Asia/Kathmandu", "02:30", date(2025, 5, 10), "2025-05-09T20:45"),
}
"""Worked out by hand from the tz database's rules for these days."""

HEAD: Final = """
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo
from flow import DAG
from flow.operators.empty import EmptyOperator

def dag(dag_id, schedule, start, end, zone):
    zone = ZoneInfo(zone)
    start, end = (datetime.fromisoformat(one).replace(tzinfo=zone) for one in (start, end))
    with DAG(dag_id, schedule=schedule, start_date=start, end_date=end, catchup=True):
        EmptyOperator(task_id="nothing")

"""


def _calls() -> Iterator[str]:
    for name, change in CHANGES.items():
        hour, minute = change.at.split(":")
        start, end = (change.day - 2 * DAY).isoformat(), (change.day + 3 * DAY).isoformat()
        zone = change.zone
        cron = f"{int(minute)} {int(hour)} * * *"
        yield f"dag({name!r}, {cron!r}, {start!r}, {end!r}, {zone!r})\n"
        yield f"dag('delta_{name}', timedelta(days=1), {start!r}, {end!r}, {zone!r})\n"


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        made.write("changes.py", HEAD + "".join(_calls()))
        made.parse()
        schedule(made)
        yield made


@pytest.fixture(scope="module")
def made_runs(deployment: Deployment) -> dict[str, list[Interval]]:
    """The intervals of all runs, by DAG."""
    return {dag_id: intervals(found) for dag_id, found in by_dag(deployment).items()}


@pytest.mark.parametrize("name", CHANGES)
def test_they_were_foretold(
    deployment: Deployment, made_runs: dict[str, list[Interval]], name: str
) -> None:
    change = CHANGES[name]
    start = (change.day - 2 * DAY).isoformat()
    found = made_runs[name]
    assert coming(deployment, name, "--from", start, "-n", "5") == found[:5]
    assert coming(deployment, name, "--from", start, "-n", "40") == found


@pytest.mark.parametrize("name", CHANGES)
def test_each_local_day_has_one_run(made_runs: dict[str, list[Interval]], name: str) -> None:
    change = CHANGES[name]
    zone = ZoneInfo(change.zone)
    found = made_runs[name]
    # From two days before the change to the end date, which is the first moment of its day.
    days = [change.day + number * DAY for number in range(-2, 4 if change.at == "00:00" else 3)]
    assert [start.astimezone(zone).date() for start, _ in found] == days
    assert all(one[1] == next_[0] for one, next_ in pairwise(found))
    assert all(start < end for start, end in found)
    for start, _ in found:
        local = start.astimezone(zone)
        if local.date() == change.day:
            assert start == datetime.fromisoformat(change.utc).replace(tzinfo=UTC)
        else:
            assert f"{local:%H:%M}" == change.at


@pytest.mark.parametrize("name", CHANGES)
def test_a_distance_is_a_distance(made_runs: dict[str, list[Interval]], name: str) -> None:
    change = CHANGES[name]
    found = made_runs[f"delta_{name}"]
    first = datetime.combine(change.day - 2 * DAY, datetime.min.time(), ZoneInfo(change.zone))
    assert found[0][0] == first
    assert {end - start for start, end in found} == {DAY}
    assert {next_[0] - one[0] for one, next_ in pairwise(found)} == {DAY}


@pytest.mark.parametrize("name", ["gap", "fold"])
def test_the_run_of_such_a_day_is_found_by_its_day(deployment: Deployment, name: str) -> None:
    change = CHANGES[name]
    shown = deployment.ask("runs", "show", name, change.day.isoformat())
    assert moment(shown["logical_date"]) == datetime.fromisoformat(change.utc).replace(tzinfo=UTC)
    again = deployment.flow("run", name, "--date", f"{change.utc}Z")
    assert again.code == 4
