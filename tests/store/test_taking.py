"""Taking wake-ups of runs while others hold, change and add what they are about."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import pytest
from hand_driven import World, spec, task

from flow.roles.loop import POLL
from flow.states import TaskState as T
from flow.store import runs, wakeups
from flow.store.connect import Conn, connect, transaction
from flow.store.runs import Woken
from flow.store.wakeups import BUSY_AGAIN
from waiting import wait_until

BATCH, WHOLE = 1_000, 64
DUE_AT = "select due_at from wakeup where kind = 'run'"


@pytest.fixture
def other(database: str) -> Iterator[Conn]:
    """A connection of somebody else's."""
    with connect(database, name="other") as conn:
        yield conn


@pytest.fixture
def started(world: World) -> World:
    """A run of a → b whose first task runs; no wake-up is left."""
    world.add(spec("d", task("a"), task("b", "a")))
    world.worker()
    scheduler = world.scheduler()
    while scheduler.run_once():
        pass
    assert world.conn.execute(DUE_AT).fetchall() == []
    return world


def wake(world: World, task_id: str | None = None) -> int:
    """Wake the only run; its key."""
    row = world.conn.execute("select run_key from run").fetchone()
    wakeups.wake_runs(world.conn, [(row[0], task_id, None)])
    return row[0]


@contextmanager
def taking(conn: Conn, *, whole: int = WHOLE) -> Iterator[Woken]:
    with transaction(conn, "test", opening=[runs.take_woken(BATCH, whole)]) as answers:
        yield runs.woken(answers.opening)


# Stops whoever deletes wake-ups until a lock is free that only this test knows.
STOP = """
create function stop() returns trigger language plpgsql as
  $$ begin perform pg_advisory_xact_lock(1); return null; end $$;
create trigger stop before delete on wakeup for each statement execute function stop()
"""


def test_states_are_read_as_they_are_after_the_lock(started: World, database: str, other: Conn):
    """The taking session stops when it holds the run. What is committed then is seen all the same,
    and a wake-up that arrives then is not taken with those before it."""
    [claimed] = started.claim()
    run_key = wake(started, "b")
    started.conn.execute(STOP)
    with connect(database, name="taking") as conn, ThreadPoolExecutor(1) as thread:

        def take() -> Woken:
            with taking(conn) as woken:
                return woken

        other.execute("begin; select pg_advisory_xact_lock(1)")
        future = thread.submit(take)
        try:
            wait_until(lambda: waits_for_a_lock(started.conn, "taking"), "the session to stop")
            free = started.conn.execute("select run_key from run for no key update skip locked")
            assert free.fetchall() == []
            assert started.report(claimed, T.SUCCESS)
        finally:
            other.execute("commit")
        woken = future.result()
    assert woken.changed == {run_key: {"b"}}
    assert [(row.task_id, row.state) for row in woken.tasks[run_key]] == [("a", "success")]
    left = started.conn.execute("select task_id from wakeup where kind = 'run'").fetchall()
    assert left == [("a",)]


def waits_for_a_lock(conn: Conn, name: str) -> bool:
    found = conn.execute(
        """select wait_event_type = 'Lock' from pg_stat_activity
             where datname = current_database() and application_name = 'flow ' || %s""",
        (name,),
    ).fetchone()
    return found == (True,)


def test_what_is_taken_is_passed_over_and_free_again_when_its_taker_dies(
    started: World, database: str, other: Conn
):
    run_key = wake(started)
    dying = connect(database, name="dies")
    dying.execute("begin")
    first = runs.woken(dying.execute(runs.take_woken(BATCH, WHOLE)))
    assert [run.run_key for run in first.runs] == [run_key]
    assert first.changed == {run_key: None}
    with taking(other) as second:
        assert (second.wakeups, second.runs) == (0, [])
    dying.close()
    wait_until(lambda: taken(other) == [run_key], "its transaction to end")


def taken(conn: Conn) -> list[int]:
    """Keys of the runs that can be taken now."""
    with taking(conn) as woken:
        return [run.run_key for run in woken.runs]


def test_a_wake_up_of_a_run_that_somebody_holds_comes_back_a_little_later(
    started: World, other: Conn
):
    run_key = wake(started)
    [(before,)] = started.conn.execute(DUE_AT)
    other.execute("begin; select from run for no key update")
    with taking(started.conn) as woken:
        assert (woken.wakeups, woken.runs, woken.tasks) == (1, [], {})
    [(after,)] = started.conn.execute(DUE_AT)
    assert after - before >= timedelta(seconds=BUSY_AGAIN)
    other.execute("commit")
    wait_until(lambda: taken(started.conn) == [run_key], "the wake-up to be due again")
    assert started.conn.execute(DUE_AT).fetchall() == []


def test_a_wake_up_of_a_run_that_is_over_goes(world: World):
    world.add(spec("d", task("a")))
    world.settle(world.scheduler())
    wake(world)
    with taking(world.conn) as woken:
        assert (woken.wakeups, woken.runs) == (1, [])
    assert world.conn.execute(DUE_AT).fetchall() == []


def test_rows_come_with_a_small_run_and_not_with_a_large_one(world: World):
    world.add(
        spec("d", task("a", retries=1, retry_delay=3600.0), task("b"), task("x", "b"))
    )  # fmt: skip
    world.settle(
        world.scheduler(), outcome=lambda one: T.FAILED if one.task_id == "a" else T.SUCCESS
    )
    run_key = wake(world)
    with taking(world.conn, whole=3) as woken:
        rows = {row.task_id: row for row in woken.tasks[run_key]}
    assert {task_id: row.state for task_id, row in rows.items()} == {
        "a": "up_for_retry", "b": "success", "x": "success",
    }  # fmt: skip
    assert world.conn.execute(
        "select task_id, due_at from task_hot where due_at is not null"
    ).fetchall() == [("a", rows["a"].due_at)]
    wake(world)
    with taking(world.conn, whole=2) as woken:
        assert ([run.run_key for run in woken.runs], woken.tasks) == ([run_key], {})


def test_a_scheduler_waits_until_something_is_due(world: World):
    scheduler = world.scheduler()
    while scheduler.run_once():
        pass
    assert scheduler.idle_for(0) == POLL
    world.conn.execute(
        "insert into wakeup (kind, name, due_at) values ('pool', 'p', now() + '0.9 s')"
    )
    assert scheduler.run_once() == 0
    assert 0 < scheduler.idle_for(0) < POLL


def test_a_scheduler_does_not_spin_over_what_another_holds(started: World, other: Conn):
    scheduler = started.scheduler()
    wake(started)
    other.execute("begin; select from wakeup for update")
    assert scheduler.run_once() == 0
    assert scheduler.idle_for(0) == BUSY_AGAIN
    other.execute("commit")
    assert scheduler.run_once() == 1
