"""T05: which intervals a DAG runs when it is let go, for every start date and catchup.

The first interval starts at the first boundary at or after the start date, and runs when it has
ended. catchup False makes one run, of the latest complete interval; True makes all of them; "none"
makes none before the next tick. No interval starts before the start date. What `unpause` announces
is what happens, and doing it again makes nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final, NamedTuple

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.scheduled import Interval, by_dag, intervals, moment, schedule, unpause

NEEDS: list[str] = []

BREAKS = [
    # The interval in which the start date lies is the first one.
    Break(
        "engine/flow/timetables/recurring.py",
        "first = self.first_from(floor, start_date) if floor",
        "first = self.last_before(floor + TICK, start_date) if floor",
        test="test_a_new_dag_runs_what_its_start_date_and_catchup_say",
    ),
    # A run is made when its interval begins.
    Break(
        "engine/flow/timetables/plan.py",
        "return Planned(interval, timetable.due_at(interval),",
        "return Planned(interval, interval.start,",
        test="test_a_new_dag_runs_what_its_start_date_and_catchup_say",
    ),
    # Without catchup the first run comes a period late.
    Break(
        "engine/flow/timetables/recurring.py",
        '(catchup == "none" and cursor is None)',
        "(cursor is None)",
        test="test_a_new_dag_runs_what_its_start_date_and_catchup_say",
    ),
    # Catchup makes up for everything, whatever it says.
    Break(
        "engine/flow/timetables/recurring.py",
        "        if catchup is True:\n            first",
        "        if catchup is not None:\n            first",
        test="test_a_new_dag_runs_what_its_start_date_and_catchup_say",
    ),
    # "none" runs the latest interval at once.
    Break(
        "engine/flow/timetables/recurring.py",
        '(catchup == "none" and cursor is None)',
        "(catchup is None and cursor is None)",
        test="test_a_new_dag_runs_what_its_start_date_and_catchup_say",
    ),
]

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
KOLKATA: Final = timezone(timedelta(hours=5, minutes=30))
"""The same all year, with days that begin at half past in UTC."""
CATCHUPS: Final = (True, False, "none")


class Schedule(NamedTuple):
    """A schedule with boundaries so plain that the test can list them by itself."""

    text: str
    """As a DAG file writes it."""
    period: timedelta
    zone: timezone = UTC
    anchored: bool = False
    """Boundaries count from the start date."""

    def floor(self, at: datetime) -> datetime:
        """The last midnight or full hour at or before `at`, on the zone's clock."""
        local = at.astimezone(self.zone).replace(minute=0, second=0, microsecond=0)
        return local.replace(hour=0) if self.period == DAY else local

    def complete(self, start: datetime, now: datetime) -> list[Interval]:
        """Every interval from the start date on that has ended, by counting."""
        first = start if self.anchored or self.floor(start) == start else (
            self.floor(start) + self.period
        )  # fmt: skip
        found = []
        while first + self.period <= now:
            found.append((first, first + self.period))
            first += self.period
        return found


SCHEDULES: Final = {
    "daily": Schedule("'@daily'", DAY),
    "hourly": Schedule("'@hourly'", HOUR),
    "indian": Schedule("'0 0 * * *'", DAY, KOLKATA),
    "delta": Schedule("timedelta(hours=1)", HOUR, anchored=True),
}
STARTS: Final = ("at", "after", "before", "tick", "recent", "long_ago", "future")

FILE = """
    from datetime import datetime, timedelta
    from zoneinfo import ZoneInfo
    from flow import DAG
    from flow.operators.empty import EmptyOperator

    def dag(dag_id, schedule, start, catchup, zone):
        start = datetime.fromisoformat(start).astimezone(ZoneInfo(zone))
        with DAG(dag_id, schedule=schedule, start_date=start, catchup=catchup):
            EmptyOperator(task_id="nothing")

    """


class Row(NamedTuple):
    """One DAG of the table."""

    schedule: Schedule
    start: datetime
    catchup: bool | str

    def expected(self, begun: datetime, now: datetime) -> list[Interval]:
        """The runs of a DAG that is new at `begun`, at `now`."""
        complete = self.schedule.complete(self.start, now)
        match self.catchup:
            case True:
                return complete
            case False:
                return complete[-1:]
            case _:
                return [one for one in complete if one[1] > begun]


def start_dates(schedule: Schedule, now: datetime) -> dict[str, datetime]:
    """The start dates of the table; `boundary` is where the interval before the last began."""
    boundary = schedule.floor(now) - 2 * schedule.period
    return {
        "at": boundary,
        "after": boundary + timedelta(seconds=1),
        "before": boundary - timedelta(seconds=1),
        "tick": boundary + timedelta.resolution,
        "recent": now - 3 * HOUR,
        "long_ago": now - 30 * schedule.period,
        "future": now + 3 * DAY,
    }


class Table(NamedTuple):
    """The DAGs, what was said when they were let go and what runs that made, and when it was."""

    deployment: Deployment
    rows: dict[str, Row]
    said: dict[str, dict[str, object]]
    runs: dict[str, list[dict[str, Any]]]
    begun: datetime
    ended: datetime


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    with deployed({"dags.paused_at_creation": True}) as made:
        assert made.flow("db", "migrate").code == 0
        begun = datetime.now(UTC)
        rows = {
            f"{name}_{start}_{catchup}".lower(): Row(chosen, date, catchup)
            for name, chosen in SCHEDULES.items()
            for start, date in start_dates(chosen, begun).items()
            for catchup in CATCHUPS
        }
        calls = [
            f"    dag({dag_id!r}, {row.schedule.text}, {row.start.isoformat()!r}, {row.catchup!r}, "
            f"{'UTC' if row.schedule.zone is UTC else 'Asia/Kolkata'!r})\n"
            for dag_id, row in rows.items()
        ]
        made.write("table.py", FILE.rstrip(" ") + "".join(calls))
        made.parse()
        said = unpause(made, *rows)
        schedule(made)
        yield Table(made, rows, said, by_dag(made), begun, datetime.now(UTC))


def possible(row: Row, table: Table) -> list[list[Interval]]:
    """What may have been made, also when an interval ended while the test was at work."""
    early = row.expected(table.begun, table.begun)
    late = row.expected(table.begun, table.ended)
    return [early, late, early + [one for one in late if one not in early]]


@pytest.mark.parametrize("catchup", CATCHUPS)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_new_dag_runs_what_its_start_date_and_catchup_say(
    table: Table, name: str, start: str, catchup: bool | str
) -> None:
    dag_id = f"{name}_{start}_{catchup}".lower()
    row = table.rows[dag_id]
    found = table.runs.get(dag_id, [])
    assert intervals(found) in possible(row, table)
    for run in found:
        assert moment(run["data_interval_start"]) >= row.start
        assert moment(run["queued_at"]) >= moment(run["data_interval_end"])
        assert run["logical_date"] == run["data_interval_start"]
        assert run["run_type"] == "scheduled"
    # What was announced is what came of it.
    said = table.said[dag_id]
    counts = {len(one) for one in possible(row, table)}
    assert said["due"] in counts
    if said["due"]:
        assert moment(str(said["first_start"])) == intervals(found)[0][0]


def test_the_next_run_is_the_one_after_the_last(table: Table) -> None:
    listed = {dag["dag_id"]: dag for dag in table.deployment.ask("dags", "list", "--all")}
    assert listed.keys() == table.rows.keys()
    for dag_id, row in table.rows.items():
        # The first interval from the start date on that has not ended.
        far = row.schedule.complete(row.start, table.ended + 5 * DAY)
        coming = [end for _, end in far if end > table.begun]
        assert moment(listed[dag_id]["next_run_at"]) in coming[:2], dag_id


def test_a_pause_in_which_nothing_ended_changes_nothing(table: Table) -> None:
    """After all others: pausing, letting go and scheduling again."""
    deployment = table.deployment
    before = {run["run_id"] for run in deployment.ask("runs", "list", "--all")}
    assert deployment.flow("dags", "pause", *table.rows).code == 0
    unpause(deployment, *table.rows)
    schedule(deployment)
    listed = deployment.ask("runs", "list", "--all")
    new = [run for run in listed if run["run_id"] not in before]
    assert all(moment(run["data_interval_end"]) > table.begun for run in new)
    ids = [(run["dag_id"], run["data_interval_start"]) for run in listed]
    assert len(set(ids)) == len(ids)
