"""Each breach of an invariant is found, and a deployment at work has none."""

from __future__ import annotations

import pytest

from flow.graph import TaskSpec
from flow.ops import database, pools, running
from flow.ops.running import Wish
from flow.states import TaskState
from operations_world import World


@pytest.fixture
def at_work(world: World) -> World:
    """One finished run, one with a running, a waiting and a skipped task."""
    world.define("sales", {"a": (), "b": ("a",), "c": ("b",)})
    for run_id in ("done", "open"):
        running.run(world.deployment, Wish("sales", run_id=run_id))
        if run_id == "done":
            world.finish({"b": TaskState.FAILED})
    world.schedule()
    world.end(world.claim()["a"])
    world.schedule()
    world.claim()
    return world


def broken(world: World, *statements: str) -> set[tuple[int, str]]:
    """(invariant, subject) of the breaches after statements that say what never happens."""
    for statement in statements:
        world.conn.execute(statement)
    return {(one.invariant, one.subject) for one in database.check(world.deployment, 1)}


def test_a_deployment_at_work_breaks_none(at_work: World) -> None:
    assert broken(at_work) == set()
    at_work.finish()
    assert broken(at_work) == set()


def test_a_run_that_nobody_would_look_at_again(at_work: World) -> None:
    assert broken(at_work, "update task_hot set state = 'none', worker = null",
                  "delete from try_hot", "delete from wakeup") == {(1, "sales/open")}  # fmt: skip


def test_a_queued_run_with_room_for_it(at_work: World) -> None:
    running.run(at_work.deployment, Wish("sales", run_id="queued"))
    assert broken(at_work) == set()
    assert broken(at_work, "delete from wakeup") == {(1, "sales")}
    assert broken(at_work, "update dag set max_active_runs = 1") == set()


def test_a_running_task_without_its_try(at_work: World) -> None:
    statement = "delete from try_hot where task_id = 'b'"
    assert broken(at_work, statement) == {(2, "sales/open/b")}


def test_a_running_task_on_a_worker_that_has_ended(at_work: World) -> None:
    statement = "update process set ended_at = clock_timestamp(), ended_reason = 'lost'"
    assert broken(at_work, statement) == {(2, "sales/open/b")}


def test_a_running_try_without_its_task(at_work: World) -> None:
    statement = "update task_hot set state = 'scheduled', worker = null where task_id = 'b'"
    # It is ready, too, and nobody would look at it.
    assert broken(at_work, statement) == {(1, "sales/open/b"), (2, "sales/open/b")}


def test_a_second_open_try(at_work: World) -> None:
    statement = """insert into try_hot (run_key, task_id, try_number, claim, state, worker, host,
        executor, queue)
      select run_key, task_id, 2, 1, 'deferred', worker, host, executor, queue
      from try_hot where task_id = 'b'"""
    assert broken(at_work, statement) == {(3, "sales/open/b"), (4, "sales/open/b")}


def test_a_number_that_went_back(at_work: World) -> None:
    statement = "update task_hot set claim = 0 where task_id = 'a'"
    assert broken(at_work, statement) == {(4, "sales/open/a")}


def test_rows_in_the_wrong_place(at_work: World) -> None:
    statements = (
        """insert into task_history select h.* from task_hot h join run r using (run_key)
           where r.run_id = 'open' and h.task_id = 'a'""",
        """insert into xcom_hot (run_key, task_id, try_number, key, value)
           select run_key, 'a', 1, 'k', '1' from run where run_id = 'done'""",
    )
    assert broken(at_work, *statements) == {(5, "sales/open"), (5, "sales/done")}


def test_a_finished_run_that_lacks_a_row(at_work: World) -> None:
    statement = "delete from task_history where task_id = 'c'"
    assert broken(at_work, statement) == {(6, "sales/done/c")}
    assert database.check(at_work.deployment, 0) == []  # a look at no run at all


def test_a_pool_that_is_too_full(world: World) -> None:
    pools.set_(world.deployment, "small", 3)
    world.define("sales", [TaskSpec(task_id=n, operator="X", pool="small") for n in "abc"])
    running.run(world.deployment, Wish("sales"))
    world.schedule()
    pools.set_(world.deployment, "small", 2)  # shrunk: it empties by itself
    assert broken(world) == set()
    assert broken(world, "update task_hot set queued_at = clock_timestamp()") == {(7, "small")}


def test_two_runs_of_an_interval(world: World) -> None:
    world.define("sales", paused=True)
    running.run(world.deployment, Wish("sales", date="2026-07-09", run_id="one"))
    statements = (
        "drop index run_of_interval",
        """insert into run (dag_id, run_id, run_type, state, version, logical_date,
             data_interval_start, data_interval_end, interval_run)
           select dag_id, 'two', run_type, state, version, logical_date, data_interval_start,
             data_interval_end, true from run""",
    )
    world.conn.execute("set time zone 'UTC'")
    assert broken(world, *statements) == {(8, "sales 2026-07-09 00:00:00+00")}
