"""The runs that schedulers will make, of all DAGs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flow.errors import UsageError
from flow.ops.next_runs import next_runs
from flow.ops.planning.coming import coming_runs
from flow.timetables.trigger import CronTriggerTimetable
from operations_world import World

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_runs_of_all_dags_are_in_the_order_of_their_moments(world: World) -> None:
    for dag_id, cron in (("hourly", "0 * * * *"), ("quarterly", "*/15 * * * *")):
        world.define(
            dag_id, schedule=CronTriggerTimetable(cron), start_date=START, file=f"/dags/{dag_id}.py"
        )
    world.define("paused", schedule="@hourly", start_date=START, paused=True, file="/dags/p.py")
    world.define("by_hand", file="/dags/h.py")
    world.schedule()
    coming = coming_runs(world.deployment)
    moments = [run.run_at for run in coming.runs.rows]
    assert moments == sorted(moments)
    assert coming.paused == 1
    for dag_id, count in (("hourly", 24), ("quarterly", 96)):
        of_dag = [run for run in coming.runs.rows if run.dag_id == dag_id]
        assert len(of_dag) == count
        alone = next_runs(world.deployment, dag_id, count).runs
        assert [run.run_at for run in of_dag] == [run.run_at for run in alone]


def test_dates_say_when_runs_are_made(world: World) -> None:
    world.define("daily", schedule=CronTriggerTimetable("0 6 * * *"), start_date=START)
    world.schedule()
    day = (datetime.now(UTC) + timedelta(days=10)).date()
    following = day + timedelta(days=2)
    coming = coming_runs(world.deployment, start=str(day), end=str(following))
    assert [run.run_at.date() for run in coming.runs.rows] == [
        day + timedelta(days=number) for number in range(3)
    ]
    with pytest.raises(UsageError, match="before it begins"):
        coming_runs(world.deployment, start=str(following), end=str(day))


def test_a_page_says_how_many_there_are(world: World) -> None:
    world.define("often", schedule=CronTriggerTimetable("* * * * *"), start_date=START)
    world.schedule()
    page = coming_runs(world.deployment, limit=5).runs
    assert (len(page.rows), page.total.counted, page.total.exact) == (5, 24 * 60, True)
    page = coming_runs(world.deployment, end="2036-01-01", limit=5).runs
    assert (len(page.rows), page.total.exact) == (5, False)


def test_what_is_due_already_comes_first(world: World) -> None:
    world.define("late", schedule="@daily", start_date=START, catchup=True)
    (first, *_) = coming_runs(world.deployment).runs.rows
    assert (first.dag_id, first.data_interval_start) == ("late", START)
