"""Runs of one DAG beside each other, two schedulers at work: limits, order, and the past.

Whoever repairs runs in any order meanwhile, the limit holds at every look, and nothing is left that
nobody would ever look at again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from flow.decide import Code
from flow.graph import TaskSpec
from flow.ops import clearing, marks, pausing, running, why
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.roles.schedule import Scheduler, Settings
from flow.states import TaskState
from flow.store import invariants
from flow.store.connect import connect
from flow.store.read import dags
from operations_world import World

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
NO_MORE = {"start_date": FIRST, "end_date": FIRST}
"""A schedule that makes no run by itself, but for the first day."""
SUCCESS, FAILED = TaskState.SUCCESS, TaskState.FAILED


@contextmanager
def two_schedulers(world: World) -> Iterator[None]:
    """Two schedulers that work until the end of the block, or fail the test."""
    stop = False

    def work() -> None:
        settings = Settings(dsn=world.dsn, listen_dsn=world.dsn, version="test")
        with connect(world.dsn, name="schedule") as conn:
            one = Scheduler(settings, conn)
            while not stop:
                one.run_once()

    with ThreadPoolExecutor(2) as threads:
        working = [threads.submit(work) for _ in range(2)]
        try:
            yield
        finally:
            stop = True
        for one in working:
            one.result()


def day(number: int) -> str:
    return (FIRST + timedelta(days=number)).date().isoformat()


def make_runs(world: World, count: int) -> None:
    for number in range(count):
        running.run(world.deployment, Wish("d", date=day(number)))


def states(world: World) -> list[str]:
    return [row[0] for row in world.rows("select state from run order by logical_date")]


def is_over(world: World) -> bool:
    return not {"queued", "running"} & set(states(world))


def running_runs(world: World) -> int:
    found: int = world.value("select count(*) from run where state = 'running'")
    return found


def clear(world: World, number: int, tasks: str | None = None) -> None:
    clearing.clear(world.deployment, clearing.Wish("d", Which(day(number)), tasks, downstream=True))


@pytest.mark.parametrize("limit", [1, 3])
def test_the_limit_holds_and_the_oldest_goes_first_also_after_a_clear(
    world: World, limit: int
) -> None:
    world.define("d", {"a": ()}, schedule="@daily", paused=True, max_active_runs=limit, **NO_MORE)
    make_runs(world, 20)
    order: list[datetime] = []
    with two_schedulers(world):
        world.rows("update dag set paused = false returning 1")
        world.rows("insert into wakeup (kind, name) values ('dag', 'd') returning 1")
        for round_ in range(2):
            while not is_over(world):
                assert running_runs(world) <= limit
                for one in claim_all(world):
                    order.append(one.logical_date)
                    world.end(one)
            if round_ == 0:
                clearing.clear(
                    world.deployment, clearing.Wish("d", Which(None, day(0), day(19)))
                )  # fmt: skip
    days = [FIRST + timedelta(days=number) for number in range(20)]
    for part in (order[:20], order[20:]):
        assert sorted(part) == days
        # Those that run beside each other may be claimed in any order.
        assert all(abs(part.index(at) - place) < limit for place, at in enumerate(days))
    assert invariants.breaches(world.conn) == []


def claim_all(world: World) -> list:
    """Take what is queued, one of each run and task."""
    claimed = []
    while found := world.claim(1):
        claimed += found.values()
    return claimed


def test_a_run_that_comes_due_stands_behind_those_that_are_queued(world: World) -> None:
    world.define(
        "d", {"a": ()}, schedule="@daily", paused=True, max_active_runs=1, start_date=FIRST
    )
    make_runs(world, 1)
    world.rows("delete from wakeup returning 1")
    world.rows("update dag set paused = false returning 1")
    world.schedule()
    assert states(world) == ["running", "queued"]


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_repaired_meanwhile_the_chain_goes_on(world: World, seed: int) -> None:
    """Tasks fail, are marked, are cleared alone and with what is below, in runs of any state."""
    chance = random.Random(seed)
    tasks = [
        TaskSpec(task_id="a", operator="x", depends_on_past=True, wait_for_downstream=seed == 2),
        TaskSpec(task_id="b", operator="x", upstream=("a",)),
        TaskSpec(task_id="c", operator="x", upstream=("b",), depends_on_past=True,
                 wait_for_past_depends_before_skipping=True),
    ]  # fmt: skip
    world.define("d", tasks, schedule="@daily", paused=True, max_active_runs=2 + seed, **NO_MORE)
    make_runs(world, 8)
    with two_schedulers(world):
        world.rows("update dag set paused = false returning 1")
        world.rows("insert into wakeup (kind, name) values ('dag', 'd') returning 1")
        for _ in range(150):
            for one in claim_all(world):
                world.end(one, chance.choice([SUCCESS, SUCCESS, SUCCESS, FAILED]))
            number = chance.randrange(8)
            if chance.random() < 0.2:
                clear(world, number, chance.choice(["a", "b", "c", None]))
            elif chance.random() < 0.2:
                state = chance.choice([SUCCESS, TaskState.SKIPPED])
                marks.mark(world.deployment, "d", Which(day(number)), chance.choice("abc"), state)
            assert running_runs(world) <= 2 + seed
        while not is_over(world):
            for one in claim_all(world):
                world.end(one)
            repair_failures(world)
    assert invariants.breaches(world.conn) == []


def repair_failures(world: World) -> None:
    """Clear what failed, the oldest run first, so that what waits for it can go on."""
    failed = world.rows(
        """select distinct r.logical_date from run r join task t using (run_key)
           where t.state in ('failed', 'upstream_failed') and r.state in ('failed', 'success')
           order by 1 limit 1"""
    )
    for (logical_date,) in failed:
        wish = clearing.Wish(
            "d", Which(logical_date.date().isoformat()), states={FAILED, TaskState.UPSTREAM_FAILED}
        )
        clearing.clear(world.deployment, wish)


def test_a_dag_that_was_paused_for_its_failures_says_so(world: World) -> None:
    world.define(
        "d", {"a": ()}, schedule="@daily", max_consecutive_failed_dag_runs=2, start_date=FIRST,
        end_date=FIRST,
    )  # fmt: skip
    for number in range(2):
        running.run(world.deployment, Wish("d", date=day(number)))
        world.finish({"a": FAILED})
    running.run(world.deployment, Wish("d", date=day(2)))
    world.schedule()
    assert states(world) == ["failed", "failed", "queued"]
    [reason] = [
        reason
        for reason in why.why(world.deployment, "d", day(2)).reasons
        if reason.code is Code.PAUSE_REASON
    ]
    assert "2 failed runs in a row" in reason.text()
    assert dags.one(world.conn, "d").pause_reason in reason.text()
    pausing.unpause(world.deployment, ["d"])
    world.finish({"a": FAILED})
    assert states(world) == ["failed"] * 3
    assert dags.one(world.conn, "d").paused is False
