"""T08: after a change of the start date, schedule or catchup the current definition counts.

No new run is before the current start date. After a change of the schedule without catchup there is
at most one run at once, of the latest complete interval of the new schedule. No new interval
overlaps one that has run, so the time from the last one to the first boundary of the new schedule
stays uncovered; and whatever has run before stays as it is. It makes no difference whether the DAG
was paused when it changed, as long as it is let go afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final, NamedTuple

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.scheduled import Interval, by_dag, intervals, schedule, unpause

NEEDS: list[str] = []

BREAKS = [
    # What was missed is made up for, whatever the start date says now.
    Break(
        "engine/flow/timetables/recurring.py",
        "        floor = later(start_date, cursor)\n",
        "        floor = cursor or start_date\n",
        test="test_the_current_definition_counts",
    ),
    # A new schedule begins wherever it likes.
    Break(
        "engine/flow/store/dags.py",
        "self._plan(file, spec, row.cursor, now, afresh=True)",
        "self._plan(file, spec, None, now)",
        test="test_the_current_definition_counts",
    ),
    # The plan that was made with the old definition is kept.
    Break(
        "engine/flow/store/dags.py",
        "        if row.spec_hash == definition.spec_hash:\n            return definition.spec\n",
        "        if row.spec_hash:\n            return definition.spec\n",
        test="test_the_current_definition_counts",
    ),
    # A live DAG makes up for what was missed, though it is to wait for its next tick now.
    Break(
        "engine/flow/store/dags.py",
        "self._plan(file, spec, row.cursor, now, afresh=True)",
        "self._plan(file, spec, row.cursor, now)",
        test="test_the_current_definition_counts",
    ),
    # Every missed interval is made up for, whatever catchup says.
    Break(
        "engine/flow/timetables/recurring.py",
        "        if catchup is True:\n            first",
        "        if catchup is not None:\n            first",
        test="test_the_current_definition_counts",
    ),
]

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)

HEAD: Final = """
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo
from flow import DAG
from flow.operators.empty import EmptyOperator

def dag(dag_id, schedule, start, **arguments):
    with DAG(dag_id, schedule=schedule, start_date=datetime.fromisoformat(start), **arguments):
        EmptyOperator(task_id="nothing")

"""


class Change(NamedTuple):
    """What becomes of an hourly DAG with two runs, the first of which begins `age` before the
    last full hour."""

    schedule: str
    age: timedelta
    start: timedelta
    """How long before the hour the new start date is."""
    catchup: bool | str
    arguments: str = ""


def changed(hour: datetime) -> dict[str, tuple[Change, list[Interval]]]:
    """The changes, each with the runs that follow from it at once."""
    day = hour.replace(hour=0)
    since_midnight = hour - day
    # The two runs are those of the first hours of a day.
    old, overlapping = 10 * DAY + since_midnight, DAY + since_midnight
    three_days = 3 * DAY + since_midnight

    def hours(*before: int) -> list[Interval]:
        return [(hour - n * HOUR, hour - (n - 1) * HOUR) for n in before]

    def days(*before: int) -> list[Interval]:
        return [(day - n * DAY, day - (n - 1) * DAY) for n in before]

    return {
        # The start date moves.
        "later_start": (Change("'@hourly'", 7 * HOUR, 2 * HOUR, False), hours(1)),
        "later_start_all": (Change("'@hourly'", 7 * HOUR, 2 * HOUR, True), hours(2, 1)),
        "later_start_none": (Change("'@hourly'", 7 * HOUR, 2 * HOUR, "none"), []),
        "start_now": (Change("'@hourly'", 7 * HOUR, timedelta(0), True), []),
        "start_in_between": (
            Change("'@hourly'", 7 * HOUR, 3 * HOUR - timedelta.resolution, True),
            hours(2, 1),
        ),
        "future_start": (Change("'@hourly'", 7 * HOUR, -3 * DAY, True), []),
        "earlier_start": (Change("'@hourly'", 7 * HOUR, 30 * DAY, True), hours(5, 4, 3, 2, 1)),
        "earlier_start_latest": (Change("'@hourly'", 7 * HOUR, 30 * DAY, False), hours(1)),
        # Only catchup changes.
        "all": (Change("'@hourly'", 7 * HOUR, 7 * HOUR, True), hours(5, 4, 3, 2, 1)),
        "latest": (Change("'@hourly'", 7 * HOUR, 7 * HOUR, False), hours(1)),
        "next_tick": (Change("'@hourly'", 7 * HOUR, 7 * HOUR, "none"), []),
        # The schedule changes.
        "daily": (Change("'@daily'", old, old, False), days(1)),
        "daily_all": (Change("'@daily'", old, old, True), days(*range(9, 0, -1))),
        "daily_from_a_start": (Change("'@daily'", old, three_days, True), days(3, 2, 1)),
        "daily_would_overlap": (Change("'@daily'", overlapping, 30 * DAY, False), []),
        "daily_would_overlap_all": (Change("'@daily'", overlapping, 30 * DAY, True), []),
        "every_two_hours": (
            Change("timedelta(hours=2)", 7 * HOUR, 7 * HOUR, True),
            [(hour - 5 * HOUR, hour - 3 * HOUR), (hour - 3 * HOUR, hour - HOUR)],
        ),
        "no_schedule": (Change("None", 7 * HOUR, 7 * HOUR, True), []),
        "ended": (
            Change("'@hourly'", 7 * HOUR, 7 * HOUR, True,
                   f"end_date=datetime.fromisoformat({(hour - 4 * HOUR).isoformat()!r})"),
            hours(5, 4),
        ),
    }  # fmt: skip


class World(NamedTuple):
    """The runs before and after the changes, by DAG, and what was said about them in between."""

    deployment: Deployment
    hour: datetime
    before: dict[str, list[dict[str, Any]]]
    said: dict[str, dict[str, Any]]
    after: dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module", params=["paused", "live"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    paused = request.param == "paused"
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        changes = changed(hour)
        made.write(
            "moving.py", HEAD + "".join(_old(name, one[0], hour) for name, one in changes.items())
        )
        made.parse()
        schedule(made)
        before = by_dag(made)
        if paused:
            assert made.flow("dags", "pause", *changes).code == 0
        made.write(
            "moving.py", HEAD + "".join(_new(name, one[0], hour) for name, one in changes.items())
        )
        made.parse()
        if paused:
            schedule(made)
            assert by_dag(made) == before
        said = unpause(made, *changes)
        schedule(made)
        yield World(made, hour, before, said, by_dag(made))


def _old(name: str, change: Change, hour: datetime) -> str:
    start = (hour - change.age).isoformat()
    end = (hour - change.age + HOUR).isoformat()
    return (
        f"dag({name!r}, '@hourly', {start!r}, catchup=True, "
        f"end_date=datetime.fromisoformat({end!r}))\n"
    )


def _new(name: str, change: Change, hour: datetime) -> str:
    start = (hour - change.start).isoformat()
    more = f", {change.arguments}" if change.arguments else ""
    return f"dag({name!r}, {change.schedule}, {start!r}, catchup={change.catchup!r}{more})\n"


@pytest.mark.parametrize("name", changed(datetime(2024, 1, 1, 5, tzinfo=UTC)))
def test_the_current_definition_counts(world: World, name: str) -> None:
    change, expected = changed(world.hour)[name]
    before, after = world.before[name], world.after[name]
    assert intervals(before) == [
        (world.hour - change.age + n * HOUR, world.hour - change.age + (n + 1) * HOUR)
        for n in range(2)
    ]
    # What ran before is what it was.
    assert after[: len(before)] == before
    new = intervals(after[len(before) :])
    late = [one for one in new if one[1] > world.hour]  # an hour that ended during the test
    assert [one for one in new if one not in late] == expected
    assert len(late) <= 1
    assert all(start >= world.hour - change.start for start, _ in new)
    assert all(one[1] <= next_[0] for one, next_ in pairwise(intervals(after)))
    assert world.said[name]["due"] in {len(expected), len(new)}


def test_nothing_more_follows(world: World) -> None:
    """After all others: the plan is settled."""
    schedule(world.deployment)
    found = by_dag(world.deployment)
    for name, runs in world.after.items():
        more = intervals(found[name][len(runs) :])
        assert all(end > world.hour for _, end in more), name
    checked = world.deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
