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


def test_a_page_looks_at_no_more_dags_than_it_needs_and_is_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, minute in enumerate((40, 10, 30, 10, 20, 50)):
        table = CronTriggerTimetable(f"{minute} * * * *")
        world.define(f"dag_{number}", schedule=table, start_date=START, file=f"/dags/{number}.py")
    world.schedule()
    every = coming_runs(world.deployment).runs.rows
    monkeypatch.setattr("flow.ops.planning.coming._AT_ONCE", 2)
    for limit in (1, 2, 3, 7, 20):
        page = coming_runs(world.deployment, limit=limit).runs
        assert page.rows == every[:limit]
    first = coming_runs(world.deployment, limit=1).runs
    assert (first.total.counted, first.total.exact) == (1, False)  # four DAGs were not looked at
    assert coming_runs(world.deployment, limit=200).runs.total == (len(every), True)
