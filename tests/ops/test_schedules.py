"""Kinds of timetable in a scheduler's hands: which runs there are, and for which intervals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from flow.errors import UsageError
from flow.ops import pausing, running
from flow.ops.next_runs import next_runs
from flow.ops.running import Wish
from flow.timetables.events import EventsTimetable
from flow.timetables.trigger import (
    CronTriggerTimetable,
    DeltaTriggerTimetable,
    MultipleCronTriggerTimetable,
)
from operations_world import World

HOUR, DAY, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)


def now(world: World) -> datetime:
    moment: datetime = world.value("select clock_timestamp()")
    return moment.astimezone(UTC)


def today(world: World) -> datetime:
    return now(world).replace(hour=0, minute=0, second=0, microsecond=0)


def intervals(world: World) -> list[tuple[datetime, datetime]]:
    return world.rows("select data_interval_start, data_interval_end from run order by 1, run_key")


def test_a_trigger_makes_the_last_tick_and_catchup_all_of_them(world: World) -> None:
    begin = today(world) - 3 * DAY
    trigger = CronTriggerTimetable("0 0 * * *")
    world.define("last", schedule=trigger, start_date=begin, file="/dags/one.py")
    world.schedule()
    assert intervals(world) == [(today(world), today(world))]
    world.define("all", schedule=trigger, start_date=begin, catchup=True, file="/dags/two.py")
    world.schedule()
    rows = world.rows("select logical_date, run_id from run where dag_id = 'all' order by 1")
    assert rows == [
        (begin + n * DAY, f"scheduled__{(begin + n * DAY).isoformat()}") for n in range(4)
    ]


def test_the_interval_of_a_trigger_lies_before_its_tick_and_not_before_the_start(
    world: World,
) -> None:
    begin = today(world) - 3 * DAY
    crons = MultipleCronTriggerTimetable("0 0 * * *", "0 12 * * *", interval=DAY)
    world.define("sales", schedule=crons, start_date=begin, catchup=True)
    world.schedule()
    found = intervals(world)
    assert found[0] == (begin, begin + DAY)
    assert [b - a for (a, _), (b, _) in pairwise(found)] == [12 * HOUR] * (len(found) - 1)
    assert all(end - start == DAY for start, end in found)
    assert found[-1][1] <= now(world) < found[-1][1] + 12 * HOUR


def test_a_delta_trigger_is_counted_from_the_start_date(world: World) -> None:
    begin = now(world).replace(microsecond=0) - 5 * HOUR
    world.define("sales", schedule=DeltaTriggerTimetable(2 * HOUR), start_date=begin, catchup=True)
    world.schedule()
    assert [start for start, _ in intervals(world)] == [begin + n * 2 * HOUR for n in range(3)]


def test_event_dates_are_made_once_each_and_then_nothing(world: World) -> None:
    dates = [today(world) - n * DAY for n in (3, 1, 2)]
    world.define("sales", schedule=EventsTimetable(dates), catchup=True)
    world.schedule()
    assert intervals(world) == [(date, date) for date in sorted(dates)]
    assert next_runs(world.deployment, "sales", 10).runs == []
    assert world.rows("select next_run_at from dag") == [(None,)]


def test_a_date_that_is_no_event_is_refused_and_an_event_is_taken(world: World) -> None:
    dates = [today(world) - 3 * DAY, today(world) + 3 * DAY]
    world.define("sales", schedule=EventsTimetable(dates), catchup="none")
    with pytest.raises(UsageError) as refusal:
        running.run(world.deployment, Wish("sales", date=today(world).isoformat()))
    assert all(date.isoformat() in refusal.value.hint for date in dates)
    made = running.run(world.deployment, Wish("sales", date=dates[1].isoformat()))
    assert made.found.run.data_interval_start == dates[1]


# ── without a start date ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("immediately", "runs"), [(True, 1), (False, 0), (2 * HOUR, 1)])
def test_run_immediately_says_how_a_dag_without_a_start_begins(
    world: World, immediately: bool | timedelta, runs: int
) -> None:
    trigger = CronTriggerTimetable("0 * * * *", run_immediately=immediately)
    world.define("sales", schedule=trigger, catchup=True)
    world.schedule()
    found = intervals(world)
    assert len(found) == runs
    assert all(now(world) - HOUR < start <= now(world) for start, _ in found)
    (following,) = next_runs(world.deployment, "sales", 1).runs
    assert now(world) < following.run_at <= now(world) + HOUR


# ── without a pause ──────────────────────────────────────────────────────────────────────────────


def test_continuous_runs_follow_each_other_and_their_intervals_touch(world: World) -> None:
    begin = now(world) - HOUR
    world.define("loop", {"only": ()}, schedule="@continuous", start_date=begin, max_active_runs=1)
    world.schedule()
    for _ in range(3):
        world.end(world.claim()["only"])
        world.schedule()
    found = intervals(world)
    assert len(found) == 4
    assert found[0][0] == begin
    assert all(start < end for start, end in found)
    assert all(end == start for (_, end), (start, _) in pairwise(found))
    assert world.value("select count(*) from run where state in ('queued', 'running')") == 1


def test_a_continuous_dag_makes_no_second_run_beside_an_unfinished_one(world: World) -> None:
    world.define("loop", schedule="@continuous", max_active_runs=1)
    world.schedule()
    assert len(intervals(world)) == 1
    assert world.rows("select next_run_at from dag") == [(None,)]
    # Neither a run by hand nor a pause changes that.
    running.run(world.deployment, Wish("loop"))
    pausing.pause(world.deployment, ["loop"])
    pausing.unpause(world.deployment, ["loop"])
    world.schedule()
    rows = world.rows("select run_type, state from run order by run_key")
    assert rows == [("scheduled", "running"), ("manual", "queued")]


def test_a_continuous_dag_without_catchup_does_not_cover_a_pause(world: World) -> None:
    world.define("loop", schedule="@continuous", catchup="none", max_active_runs=1, paused=True)
    before = now(world)
    world.rows("update dag set cursor_at = %s returning 1", before - DAY)
    pausing.unpause(world.deployment, ["loop"])
    world.schedule()
    ((start, _),) = intervals(world)
    assert before <= start <= now(world)


# ── what schedules share ─────────────────────────────────────────────────────────────────────────


def test_the_next_runs_are_those_that_a_scheduler_then_makes(world: World) -> None:
    begin = today(world) - 4 * DAY
    for n, schedule in enumerate(
        ("0 */7 * * *", CronTriggerTimetable("30 */5 * * *"), 9 * HOUR, "@once")
    ):
        dag_id = f"dag_{n}"
        world.define(
            dag_id, schedule=schedule, start_date=begin, catchup=True, max_active_runs=99,
            file=f"/dags/{n}.py",
        )  # fmt: skip
        announced = next_runs(world.deployment, dag_id, 200).runs
        due = [run.data_interval_start for run in announced if run.run_at <= now(world)]
        world.schedule()
        made = world.rows(
            "select data_interval_start from run where dag_id = %s order by 1", dag_id
        )
        assert [row[0] for row in made] == due
