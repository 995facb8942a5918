"""Backfills as schedulers move them on: room, order, what an interval's turn finds, and the end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from hand_driven import TODAY, World, spec, succeed, task

from flow import faults
from flow.decide.backfill import Action
from flow.roles.schedule import Scheduler
from flow.roles.schedule.sweep import sweep
from flow.states import BackfillState, TaskState
from flow.store import backfills, invariants, runs, wakeups
from flow.store.backfills import NewBackfill, NewInterval
from flow.store.connect import transaction

DAY = timedelta(days=1)
FIRST = TODAY - 40 * DAY


def day(number: int) -> datetime:
    return FIRST + number * DAY


def fill(
    world: World,
    numbers: Sequence[int],
    dag_id: str = "d",
    *,
    action: Action = Action.CREATE,
    wake: bool = True,
    **fields: Any,
) -> int:
    """A backfill of these days, in the order given; its id."""
    new = NewBackfill(
        **{
            "dag_id": dag_id,
            "tasks": None,
            "order": "oldest",
            "reprocess": "all",
            "version": "latest",
            "max_active_runs": 2,
            "conf": None,
            "priority": 0,
            "created_by": "ann",
            **fields,
        }
    )
    with transaction(world.conn, "test"):
        found = backfills.add(
            world.conn, new, [NewInterval(day(n), day(n + 1), action, None, None) for n in numbers]
        )
        if wake:
            wakeups.wake_named(world.conn, [("dag", dag_id)])
    return found


def rest(*schedulers: Scheduler) -> None:
    while sum(scheduler.run_once() for scheduler in schedulers):
        pass


def days(world: World, state: str) -> list[int]:
    """The days whose runs of DAG d are in a state."""
    rows = world.conn.execute(
        "select logical_date from run where dag_id = 'd' and state = %s order by 1", (state,)
    )
    return [(row[0] - FIRST).days for row in rows]


def state(world: World, backfill_id: int) -> str:
    row = world.conn.execute(
        "select state from backfill where backfill_id = %s", (backfill_id,)
    ).fetchone()
    return str(row[0])


def notes(world: World) -> list[str | None]:
    return [row[0] for row in world.conn.execute("select note from backfill_interval order by 1")]


@pytest.fixture
def chain(world: World) -> World:
    """DAG d: a, then b, with a run a day; and a worker."""
    world.worker()
    world.add(
        spec("d", task("a"), task("b", "a"), start_date=FIRST, end_date=day(20), max_active_runs=1),
        due=False,
    )
    return world


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_runs_appear_as_there_is_room_and_in_order(chain: World, order: str) -> None:
    numbers = list(range(7)) if order == "oldest" else list(reversed(range(7)))
    backfill_id = fill(chain, numbers, order=order)
    scheduler = chain.scheduler()
    seen = []
    while state(chain, backfill_id) == "running":
        rest(scheduler)
        running = days(chain, "running")
        assert len(running) <= 2
        assert not days(chain, "queued")
        chain.check()
        seen += [number for number in running if number not in seen]
        for one in chain.claim(1):
            chain.report(one, TaskState.SUCCESS)
    assert seen == sorted(numbers[:2]) + numbers[2:]
    assert chain.runs("d") == ["success"] * 7
    assert state(chain, backfill_id) == "done"
    rows = chain.conn.execute("select distinct run_type, backfill_id, interval_run from run")
    assert rows.fetchall() == [("backfill", backfill_id, True)]
    assert not chain.conn.execute("select from backfill_interval where active").fetchall()


def test_the_limits_of_dag_and_backfills_do_not_count_each_other(chain: World) -> None:
    fill(chain, range(5), max_active_runs=3)
    fill(chain, range(10, 15), max_active_runs=2)
    chain.conn.execute(
        """insert into run (dag_id, version, run_id, run_type, state, logical_date,
             data_interval_start, data_interval_end, interval_run)
           select 'd', 1, n::text, 'manual', 'queued', now(), now(), now(), false
           from generate_series(1, 3) as n"""
    )
    rest(chain.scheduler())
    rows = chain.conn.execute(
        "select backfill_id, count(*) from run where state = 'running' group by 1 order by 1"
    )
    assert [row[1] for row in rows] == [3, 2, 1]
    chain.check()


def test_a_paused_dag_is_filled_and_a_paused_backfill_waits(chain: World) -> None:
    chain.conn.execute("update dag set paused = true")
    backfill_id = fill(chain, range(3))
    scheduler = chain.scheduler()
    rest(scheduler)
    assert days(chain, "running") == [0, 1]
    with transaction(chain.conn, "test"):
        backfills.set_state(chain.conn, backfill_id, BackfillState.PAUSED)
    chain.settle(scheduler)
    assert (days(chain, "success"), days(chain, "running")) == ([0, 1], [])
    chain.check()
    with transaction(chain.conn, "test"):
        backfills.set_state(chain.conn, backfill_id, BackfillState.RUNNING)
        wakeups.wake_named(chain.conn, [("dag", "d")])
    chain.settle(scheduler)
    assert state(chain, backfill_id) == "done"


def test_runs_are_done_again_at_their_turn_and_stay_who_they_are(chain: World) -> None:
    scheduler = chain.scheduler()
    fill(chain, [0, 1, 2])
    chain.settle(scheduler)
    chain.conn.execute("update run set run_type = 'scheduled', conf = '{\"a\": 1}'")
    again = fill(chain, [0, 1, 2], action=Action.CLEAR, max_active_runs=1, tasks=["b"], priority=5)
    rest(scheduler)
    assert (days(chain, "running"), days(chain, "success")) == ([0], [1, 2])
    (one,) = chain.claim()
    assert (one.task_id, one.try_number, one.run_type) == ("b", 2, "scheduled")
    assert chain.conn.execute("select priority from task_hot where task_id = 'b'").fetchall() == [
        (6,)
    ]
    chain.report(one, TaskState.SUCCESS)
    assert chain.settle(scheduler) == 2
    rows = chain.conn.execute("select distinct backfill_id, conf from run").fetchall()
    assert rows == [(again, '{"a": 1}')]
    chain.check()


def _run(world: World, number: int) -> None:
    """Somebody else makes the run of a day."""
    with transaction(world.conn, "test"):
        world.conn.execute(
            """insert into run (dag_id, version, run_id, run_type, state, logical_date,
                 data_interval_start, data_interval_end, interval_run)
               values ('d', 1, %(at)s::text, 'manual', 'queued', %(at)s, %(at)s, %(at)s, true)""",
            {"at": day(number)},
        )
        wakeups.wake_named(world.conn, [("dag", "d")])


def test_what_has_come_since_is_left_alone_and_what_is_gone_is_made(chain: World) -> None:
    scheduler = chain.scheduler()
    _run(chain, 0)
    chain.settle(scheduler)
    _run(chain, 1)
    rest(scheduler)
    made = fill(chain, [0], max_active_runs=1)
    cleared = fill(chain, [1, 2, 3], action=Action.CLEAR, max_active_runs=1)
    rest(scheduler)
    assert state(chain, made) == "done"
    assert notes(chain) == [
        "it has got a run since it was planned", "its run is running", None, None
    ]  # fmt: skip
    chain.settle(scheduler)
    assert state(chain, cleared) == "done"
    assert chain.runs("d") == ["success"] * 4
    chain.check()


def test_of_an_interval_two_active_backfills_are_impossible(chain: World) -> None:
    first = fill(chain, [0, 1])
    with transaction(chain.conn, "test"):
        assert backfills.taken(chain.conn, "d", [day(1), day(2)]) == (first, day(1))
        assert backfills.taken(chain.conn, "d", [day(2)]) is None
    with pytest.raises(Exception, match="backfill_of_interval"):
        fill(chain, [2, 1])
    chain.settle(chain.scheduler())
    fill(chain, [2, 1])


def test_a_run_of_some_tasks_passes_the_others_over(world: World) -> None:
    world.worker()
    tasks = (task("a"), task("b", "a"), task("c", "b"), task("d", "c"))
    world.add(spec("d", *tasks, start_date=FIRST, end_date=day(20)), due=False)
    fill(world, [0], tasks=["b", "d"])
    ran: list[str] = []
    scheduler = world.scheduler()
    world.settle(scheduler, outcome=lambda one: ran.append(one.task_id) or succeed(one))
    assert ran == ["b", "d"]
    assert world.states("d") == {"a": "skipped", "b": "success", "c": "skipped", "d": "success"}
    assert world.runs("d") == ["success"]
    world.check()


def test_only_the_first_run_waits_for_no_past(world: World) -> None:
    world.worker()
    world.add(
        spec("d", task("a", depends_on_past=True), start_date=FIRST, end_date=day(20)), due=False
    )
    scheduler = world.scheduler()
    fill(world, [0])
    world.settle(scheduler, outcome=lambda _: TaskState.FAILED)
    fill(world, [1, 2, 3], max_active_runs=3)
    rest(scheduler)
    assert [one.logical_date for one in world.claim()] == [day(1)]
    world.check()


def test_a_cleared_run_belongs_to_its_backfill_only_while_that_is_active(chain: World) -> None:
    scheduler = chain.scheduler()
    first = fill(chain, [0])
    chain.settle(scheduler)
    second = fill(chain, [1, 2], max_active_runs=1)
    rest(scheduler)
    for _ in range(2):
        chain.report(chain.claim()[0], TaskState.SUCCESS)
        rest(scheduler)
    assert days(chain, "success") == [0, 1]
    rows = chain.conn.execute("select run_key from run where state = 'success' order by 1")
    keys = [row[0] for row in rows]
    with transaction(chain.conn, "test"):
        backfills.hold(chain.conn, keys)
        runs.reopen(chain.conn, keys)
    rows = chain.conn.execute("select backfill_id from run order by logical_date")
    assert [row[0] for row in rows] == [None, second, second]
    assert state(chain, first) == "done"


def test_two_schedulers_and_one_that_dies(chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    backfill_id = fill(chain, range(12), max_active_runs=3)
    one, other = chain.scheduler(), chain.scheduler()
    crashes = 0

    def dying(name: str) -> None:
        nonlocal crashes
        if name == "schedule.admit.before_commit" and crashes < 5:
            crashes += 1
            raise _Crash

    monkeypatch.setattr(faults, "point", dying)
    while state(chain, backfill_id) == "running":
        for scheduler in (one, other):
            try:
                scheduler.run_once()
            except _Crash:
                pass
            assert len(days(chain, "running")) <= 3
            chain.check()
        for claimed in chain.claim(2):
            chain.report(claimed, TaskState.SUCCESS)
    assert crashes == 5
    assert chain.runs("d") == ["success"] * 12


class _Crash(Exception):
    pass


def test_the_statements_of_a_step_do_not_depend_on_the_number_of_intervals(
    chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute, statements = psycopg.Cursor.execute, []

    def counting(cursor: Any, statement: Any, *rest: Any, **more: Any) -> Any:
        statements.append(statement)
        return execute(cursor, statement, *rest, **more)

    monkeypatch.setattr(psycopg.Cursor, "execute", counting)
    scheduler = chain.scheduler()
    costs = []
    for numbers in (range(2), range(10, 210)):
        fill(chain, numbers, max_active_runs=1_000)
        statements.clear()
        rest(scheduler)
        costs.append(len(statements))
    assert len(days(chain, "running")) == 202
    assert costs[1] <= costs[0]


def test_the_check_and_the_sweep_see_a_forgotten_backfill(chain: World) -> None:
    backfill_id = fill(chain, [0], wake=False)
    assert invariants.forgotten_dags(chain.conn) == ["d"]
    (breach,) = invariants.breaches(chain.conn)
    assert (breach.invariant, breach.subject) == (1, "d")
    assert sweep(chain.conn, 600.0) == 1
    chain.settle(chain.scheduler())
    assert state(chain, backfill_id) == "done"
    chain.conn.execute("update backfill set state = 'running', ended_at = null")
    assert invariants.forgotten_dags(chain.conn) == ["d"]
    sweep(chain.conn, 600.0)
    chain.settle(chain.scheduler())
    assert state(chain, backfill_id) == "done"
    chain.check()
