"""T02: crons of several hours keep their local hours over a change of the clocks, and go on.

The times are those at which the local clock shows a slot, by an oracle that walks every minute: a
slot in a gap comes by the length of the gap later and counts once, a slot that is shown twice fires
at the second showing, and only an expression that speaks of a rhythm fires at both.

Not yet: sensors, so also one that looks back by a local-time delta.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.scheduled import Interval, by_dag, coming, intervals, schedule

NEEDS = ["flow.sensors"]

BREAKS = [
    # Slots around a change are taken in wall order, as on any other day.
    Break(
        "engine/flow/timetables/ticks.py",
        "        found.update(_instants(cron, *to_instants(slot, zone)))\n",
        "        found.update(to_instants(slot, zone))\n",
        test="test_runs_are_where_the_local_clock_shows_a_slot",
    ),
    # A rhythm pauses while an hour is repeated.
    Break(
        "engine/flow/timetables/ticks.py",
        "    if cron.has_rhythm and first_pass < second_pass:\n",
        "    if cron.has_rhythm and first_pass > second_pass:\n",
        test="test_runs_are_where_the_local_clock_shows_a_slot",
    ),
]

MINUTE: Final = timedelta(minutes=1)
DAY: Final = timedelta(days=1)


class Cron(NamedTuple):
    """A cron that says the same every day: its text, and the minutes and hours that it means."""

    text: str
    minutes: range | tuple[int, ...]
    hours: range | tuple[int, ...]

    @property
    def rhythm(self) -> bool:
        """It fires in both showings of a repeated hour."""
        return len(self.hours) == 24 or self.text.startswith("*")


CRONS: Final = {
    "seven_to_eight": Cron("0 7-8 * * *", (0,), (7, 8)),
    "seven_and_nine": Cron("0 7,9 * * *", (0,), (7, 9)),
    "every_two_hours": Cron("0 */2 * * *", (0,), range(0, 24, 2)),
    "small_hours": Cron("30 0-4 * * *", (30,), range(5)),
    "hourly": Cron("15 * * * *", (15,), range(24)),
    "half_hourly": Cron("*/30 1-4 * * *", range(0, 60, 30), range(1, 5)),
}
SWITCHES: Final = {
    "los_angeles_spring": ("America/Los_Angeles", "2020-03-08"),
    "los_angeles_autumn": ("America/Los_Angeles", "2020-11-01"),
    "toronto_spring": ("America/Toronto", "2023-03-12"),
    "toronto_autumn": ("America/Toronto", "2023-11-05"),
    "lord_howe_spring": ("Australia/Lord_Howe", "2025-10-05"),
    "lord_howe_autumn": ("Australia/Lord_Howe", "2025-04-06"),
    "sao_paulo_spring": ("America/Sao_Paulo", "2018-11-04"),
    "london_autumn": ("Europe/London", "2025-10-26"),
}

HEAD: Final = """
from datetime import datetime
from zoneinfo import ZoneInfo
from flow import DAG
from flow.operators.empty import EmptyOperator

def dag(dag_id, schedule, start, end, zone):
    zone = ZoneInfo(zone)
    start, end = (
        None if one is None else datetime.fromisoformat(one).replace(tzinfo=zone)
        for one in (start, end)
    )
    with DAG(dag_id, schedule=schedule, start_date=start, end_date=end, catchup=end is not None):
        EmptyOperator(task_id="nothing")

"""


def span(switch: str) -> tuple[datetime, datetime]:
    """From noon two days before the change to noon two days after it."""
    zone, day = SWITCHES[switch]
    noon = datetime.fromisoformat(day).replace(hour=12, tzinfo=ZoneInfo(zone))
    return noon - 2 * DAY, noon + 2 * DAY


def walked(cron: Cron, switch: str) -> list[datetime]:
    """The slots of a cron within the span, by looking at the local clock in every minute."""
    name, _ = SWITCHES[switch]
    zone = ZoneInfo(name)
    begin, end = (one.astimezone(UTC) for one in span(switch))
    found: set[datetime] = set()
    shown: dict[datetime, datetime] = {}
    now = begin - DAY
    before = now.astimezone(zone).replace(tzinfo=None)
    while now <= end:
        wall = now.astimezone(zone).replace(tzinfo=None)
        # Minutes that the clock left out are shown by it so much later.
        missing = before + MINUTE
        while missing < wall:
            if fires(cron, missing):
                found.add(now + (missing - before - MINUTE))
            missing += MINUTE
        if fires(cron, wall):
            if wall in shown and not cron.rhythm:
                found.discard(shown[wall])
            shown[wall] = now
            found.add(now)
        before = wall
        now += MINUTE
    return sorted(one for one in found if begin <= one <= end)


def fires(cron: Cron, wall: datetime) -> bool:
    return wall.minute in cron.minutes and wall.hour in cron.hours


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """All runs are made; DAGs whose name begins with `open` have no end."""
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        text = HEAD
        for switch, (zone, _) in SWITCHES.items():
            start, end = (one.replace(tzinfo=None).isoformat() for one in span(switch))
            for name, cron in CRONS.items():
                text += f"dag('{name}_{switch}', {cron.text!r}, {start!r}, {end!r}, {zone!r})\n"
                text += f"dag('open_{name}_{switch}', {cron.text!r}, {start!r}, None, {zone!r})\n"
        made.write("switches.py", text)
        made.parse()
        schedule(made)
        yield made


@pytest.fixture(scope="module")
def made_runs(deployment: Deployment) -> dict[str, list[Interval]]:
    """The intervals of all runs, by DAG."""
    return {dag_id: intervals(found) for dag_id, found in by_dag(deployment).items()}


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("name", CRONS)
def test_runs_are_where_the_local_clock_shows_a_slot(
    made_runs: dict[str, list[Interval]], name: str, switch: str
) -> None:
    found = made_runs[f"{name}_{switch}"]
    assert [start for start, _ in found] == walked(CRONS[name], switch)
    assert all(one[1] == next_[0] for one, next_ in pairwise(found))


@pytest.mark.parametrize("switch", [name for name in SWITCHES if "lord_howe" not in name])
@pytest.mark.parametrize("name", ["seven_to_eight", "seven_and_nine", "every_two_hours"])
def test_they_are_foretold_and_go_on(deployment: Deployment, name: str, switch: str) -> None:
    """From two days before the change on, 40 of them whatever there is between."""
    start, _ = span(switch)
    found = coming(
        deployment, f"open_{name}_{switch}", "--from", start.astimezone(UTC).isoformat(), "-n", "40"
    )
    expected = walked(CRONS[name], switch)
    assert len(found) == 40
    assert [one[0] for one in found][: len(expected)] == expected[:40]
    assert all(one[1] == next_[0] for one, next_ in pairwise(found))


def test_the_walk_agrees_with_what_was_measured_elsewhere() -> None:
    """Local hours on the day of the change, as real Airflow 2.10.5 and 3.3.2 fire them."""
    for name, switch, hours in (
        ("seven_and_nine", "los_angeles_spring", [7, 9]),
        ("every_two_hours", "toronto_spring", [0, 3, *range(4, 24, 2)]),
    ):
        zone, day = SWITCHES[switch]
        local = [one.astimezone(ZoneInfo(zone)) for one in walked(CRONS[name], switch)]
        assert [one.hour for one in local if one.date().isoformat() == day] == hours
