"""Runs by hand: dates, ids, collisions, paused DAGs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from flow.errors import Conflict, NotFound, UsageError
from flow.ops import pausing, running
from flow.ops.deployment import Deployment
from flow.ops.running import Wish
from flow.store.connect import connect
from operations_world import World


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


def test_an_ad_hoc_run_is_about_now_and_the_last_complete_interval(world: World) -> None:
    world.define("sales", schedule="@daily")
    started = running.run(world.deployment, Wish("sales", conf='{"country": "ch"}'))
    run = started.found.run
    assert not started.paused
    assert (run.run_type, run.state, run.conf) == ("manual", "queued", {"country": "ch"})
    assert run.run_id == f"manual__{run.logical_date.isoformat(timespec='microseconds')}"
    now = world.value("select clock_timestamp()")
    assert now - run.logical_date < timedelta(minutes=1)
    midnight = run.logical_date.replace(hour=0, minute=0, second=0, microsecond=0)
    assert run.data_interval_end == midnight
    assert run.data_interval_start == midnight - timedelta(days=1)
    assert world.rows("select interval_run from run") == [(False,)]


def test_without_a_schedule_the_interval_is_the_moment_itself(world: World) -> None:
    world.define("sales")
    run = running.run(world.deployment, Wish("sales")).found.run
    assert run.data_interval_start == run.data_interval_end == run.logical_date


def test_the_run_starts_and_its_creation_is_audited(world: World) -> None:
    world.define("sales")
    run = running.run(world.deployment, Wish("sales")).found.run
    assert world.rows("select kind, name from wakeup") == [("dag", "sales")]
    assert world.rows("select verb, target from audit") == [("run", f"sales/{run.run_id}")]
    world.schedule()
    assert world.rows("select state from run") == [("running",)]
    assert world.states(run.run_id) == {"extract": "queued"}


def test_a_date_makes_the_run_of_that_interval(world: World) -> None:
    world.define("sales", schedule="0 6 * * *", timezone="Europe/Zurich")
    run = running.run(world.deployment, Wish("sales", date="2026-07-09T06:00")).found.run
    assert run.run_id == "manual__2026-07-09T04:00:00+00:00"
    assert run.logical_date == run.data_interval_start == at(2026, 7, 9, 4)
    assert run.data_interval_end == at(2026, 7, 10, 4)
    assert world.rows("select interval_run from run") == [(True,)]


def test_a_date_that_is_no_intervals_start_names_both_neighbours(world: World) -> None:
    world.define("sales", schedule="0 6 * * *", timezone="Europe/Zurich")
    with pytest.raises(UsageError) as caught:
        running.run(world.deployment, Wish("sales", date="2026-07-09"))
    assert caught.value.message == (
        "no interval of DAG 'sales' starts at 2026-07-09T00:00:00+02:00"
    )
    assert caught.value.hint == (
        "its neighbours start at 2026-07-08T06:00:00+02:00 and 2026-07-09T06:00:00+02:00"
    )
    assert world.rows("select * from run") == []


def test_a_dag_without_a_schedule_takes_a_date_exactly(world: World) -> None:
    world.define("sales")
    run = running.run(world.deployment, Wish("sales", date="2026-07-09T06:07")).found.run
    assert (
        run.logical_date == run.data_interval_start == run.data_interval_end == at(2026, 7, 9, 6, 7)
    )
    with pytest.raises(Conflict, match="already exists"):
        running.run(world.deployment, Wish("sales", date="2026-07-09T06:07"))


def test_a_second_run_of_an_interval_is_a_conflict_and_leaves_nothing(world: World) -> None:
    world.define("sales", schedule="@daily")
    running.run(world.deployment, Wish("sales", date="2026-07-09"))
    with pytest.raises(Conflict) as caught:
        running.run(world.deployment, Wish("sales", date="2026-07-09", run_id="again"))
    assert caught.value.message == (
        "the run of DAG 'sales' for 2026-07-09T00:00:00+00:00 already exists: "
        "manual__2026-07-09T00:00:00+00:00 (queued)"
    )
    assert world.value("select count(*) from run") == 1
    assert world.value("select count(*) from audit") == 1


def test_a_second_run_of_an_id_is_a_conflict(world: World) -> None:
    world.define("sales")
    running.run(world.deployment, Wish("sales", run_id="same"))
    with pytest.raises(Conflict, match=r"run 'same' of DAG 'sales' already exists \(queued\)"):
        running.run(world.deployment, Wish("sales", run_id="same"))
    assert world.value("select count(*) from run") == 1


def test_the_scheduler_makes_no_second_run_of_an_interval_that_was_run_by_hand(
    world: World,
) -> None:
    world.define("sales", schedule="@daily", paused=True)
    yesterday = world.value("select (now() at time zone 'UTC')::date - 1").isoformat()
    running.run(world.deployment, Wish("sales", date=yesterday))
    pausing.unpause(world.deployment, ["sales"])
    world.schedule()
    assert world.value("select count(*) from run") == 1


def test_fifty_triggers_at_once_make_fifty_runs(world: World) -> None:
    world.define("sales", schedule="@daily")

    def trigger(_: int) -> str:
        with connect(world.dsn, name="test") as conn:
            deployment = Deployment(world.deployment.settings, conn)
            return running.run(deployment, Wish("sales")).found.run.run_id

    with ThreadPoolExecutor(10) as threads:
        made = set(threads.map(trigger, range(50)))
    assert len(made) == 50
    assert world.value("select count(distinct run_id) from run") == 50


def test_an_interval_of_the_schedule_makes_its_run_and_any_other_an_ad_hoc_one(
    world: World,
) -> None:
    world.define("sales", schedule="@daily")
    own = running.run(world.deployment, Wish("sales", interval=("2026-07-09", "2026-07-10")))
    other = running.run(world.deployment, Wish("sales", interval=("2026-07-09", "2026-07-12")))
    assert own.found.run.run_id == "manual__2026-07-09T00:00:00+00:00"
    assert other.found.run.logical_date == at(2026, 7, 9)
    assert other.found.run.data_interval_end == at(2026, 7, 12)
    assert world.rows("select interval_run from run order by run_key") == [(True,), (False,)]
    with pytest.raises(UsageError, match="ends before it starts"):
        running.run(world.deployment, Wish("sales", interval=("2026-07-09", "2026-07-08")))


def test_a_run_of_a_paused_dag_stays_queued_until_it_is_unpaused(world: World) -> None:
    world.define("sales", paused=True)
    assert running.run(world.deployment, Wish("sales")).paused
    world.schedule()
    assert world.rows("select state from run") == [("queued",)]
    (outlook,) = pausing.unpause(world.deployment, ["sales"])
    assert outlook.queued == 1
    world.schedule()
    assert world.rows("select state from run") == [("running",)]


@pytest.mark.parametrize(
    "run_id",
    [
        *("../../x", "a/b", "-n", ".x", "x;rm", "a..b", "", "a b", "ñ", "x" * 251, "a\n"),
        *("latest", "today", "-7d", "2026-10-09", "2026-10-09T06:00+02:00", "scheduled__x"),
    ],
)
def test_ids_that_could_mean_something_else_or_leave_a_folder_are_refused(
    world: World, run_id: str
) -> None:
    world.define("sales")
    with pytest.raises(UsageError, match="run id"):
        running.run(world.deployment, Wish("sales", run_id=run_id))
    assert world.rows("select * from run") == []


@pytest.mark.parametrize("conf", ["[1]", '"x"', "{", '{"a": NaN}', "null"])
def test_a_conf_that_is_no_json_object_is_refused(world: World, conf: str) -> None:
    world.define("sales")
    with pytest.raises(UsageError, match="the conf is not"):
        running.run(world.deployment, Wish("sales", conf=conf))


def test_an_unknown_dag_names_its_neighbours(world: World) -> None:
    world.define("sales_eu")
    with pytest.raises(NotFound) as caught:
        running.run(world.deployment, Wish("sale_eu"))
    assert caught.value.message == "there is no DAG 'sale_eu'"
    assert caught.value.hint == "did you mean sales_eu?"
