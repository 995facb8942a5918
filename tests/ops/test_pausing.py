"""Unpausing says what it makes of a DAG, and that is what the scheduler then does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flow.errors import NotFound
from flow.ops import pausing
from operations_world import World


def today(world: World) -> datetime:
    now: datetime = world.value("select clock_timestamp()")
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def starts(world: World) -> list[datetime]:
    rows = world.rows("select data_interval_start from run order by 1")
    return [row[0] for row in rows]


def test_catchup_false_makes_the_latest_complete_interval(world: World) -> None:
    world.define(
        "sales", schedule="@daily", start_date=today(world) - timedelta(days=9), paused=True
    )
    (outlook,) = pausing.unpause(world.deployment, ["sales"])
    yesterday = today(world) - timedelta(days=1)
    assert (outlook.due, outlook.first_start) == (1, yesterday)
    assert (outlook.next_start, outlook.next_run_at) == (
        today(world),
        today(world) + timedelta(days=1),
    )
    world.schedule()
    assert starts(world) == [yesterday]


def test_catchup_true_makes_all_of_them(world: World) -> None:
    first = today(world) - timedelta(days=4)
    world.define("sales", schedule="@daily", start_date=first, catchup=True, paused=True)
    (outlook,) = pausing.unpause(world.deployment, ["sales"])
    assert (outlook.due, outlook.first_start) == (4, first)
    world.schedule()
    assert starts(world) == [first + timedelta(days=n) for n in range(4)]


def test_catchup_none_waits_for_the_next_tick_and_makes_up_for_nothing(world: World) -> None:
    first = today(world) - timedelta(days=4)
    world.define("sales", schedule="@daily", start_date=first, catchup="none", paused=True)
    # It ran until two days ago, then it was paused.
    world.rows("update dag set cursor_at = %s returning 1", today(world) - timedelta(days=2))
    (outlook,) = pausing.unpause(world.deployment, ["sales"])
    assert (outlook.due, outlook.next_start) == (0, today(world))
    assert world.value("select cursor_at from dag") == today(world)
    world.schedule()
    assert starts(world) == []


def test_unpausing_what_is_not_paused_changes_nothing(world: World) -> None:
    world.define("sales", schedule="@daily", catchup="none")
    before = world.rows("select * from dag")
    (outlook,) = pausing.unpause(world.deployment, ["sales"])
    assert not outlook.changed
    assert world.rows("select * from dag") == before
    assert world.rows("select * from audit") == []


def test_a_paused_dag_gets_no_run(world: World) -> None:
    world.define("sales", schedule="@daily")
    assert [one.changed for one in pausing.pause(world.deployment, ["sales"])] == [True]
    assert [one.changed for one in pausing.pause(world.deployment, ["sales"])] == [False]
    world.schedule()
    assert starts(world) == []
    assert world.rows("select verb, target, before, after from audit") == [
        ("dags.pause", "sales", {"paused": False}, {"paused": True})
    ]


def test_one_unknown_dag_leaves_the_others_alone(world: World) -> None:
    world.define("sales")
    with pytest.raises(NotFound, match="there is no DAG 'stock'"):
        pausing.pause(world.deployment, ["sales", "stock"])
    assert world.rows("select paused from dag") == [(False,)]
