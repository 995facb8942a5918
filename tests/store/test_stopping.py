"""Runs that end before their tasks: the time limit, fail_fast, and what becomes of what runs."""

from datetime import timedelta

import pytest
from hand_driven import World, spec, task

from flow.decide import Ending
from flow.roles.losses import free
from flow.roles.schedule import Scheduler
from flow.states import TaskState as T
from flow.states import TryState
from flow.store import invariants, tries
from flow.store.connect import transaction
from flow.store.tries import Claimed, Report

LIMIT = 3600.0


def drain(scheduler: Scheduler) -> None:
    while scheduler.run_once():
        pass


def let_time_pass(world: World, seconds: float) -> None:
    """Move what has happened, and what is due, into the past."""
    passed = timedelta(seconds=seconds)
    world.conn.execute("update run set started_at = started_at - %s", (passed,))
    world.conn.execute("update wakeup set due_at = due_at - %s", (passed,))


def told_to_stop(world: World) -> dict[str, str]:
    """What the worker learns with its heartbeat: why it is to end which task."""
    with transaction(world.conn, "test"):
        held = tries.held(world.conn, world.worker())
    return {
        claim.task_id: orders.stop_reason
        for claim, orders in held.items()
        if orders.stop_reason is not None
    }


def report_stopped(world: World, one: Claimed, reason: str) -> bool:
    ending = Ending(T.SKIPPED, TryState.SKIPPED, reason, signal=15)
    with transaction(world.conn, "test"):
        return bool(tries.report(world.conn, [Report(one.key, ending)]))


def outcome(world: World) -> tuple[str, str]:
    return world.conn.execute("select state, reason from run").fetchone()


def test_a_run_is_over_only_when_what_ran_is_dead(world: World):
    world.add(spec("d", task("a"), task("b"), task("c", "a"), dagrun_timeout=LIMIT))
    scheduler = world.scheduler()
    world.worker()
    drain(scheduler)
    running = {one.task_id: one for one in world.claim()}
    let_time_pass(world, LIMIT - 60)
    drain(scheduler)
    assert told_to_stop(world) == {}
    let_time_pass(world, 60)
    drain(scheduler)
    reason = "dagrun_timeout: the run was not over after 3600 s"
    assert told_to_stop(world) == {"a": reason, "b": reason}
    assert world.states("d") == {"a": "running", "b": "running", "c": "skipped"}
    world.check()
    assert report_stopped(world, running["a"], reason)
    drain(scheduler)
    assert world.runs("d") == ["running"]
    assert world.report(running["b"], T.SUCCESS)  # it was quicker than its end
    drain(scheduler)
    assert world.states("d") == {"a": "skipped", "b": "success", "c": "skipped"}
    assert outcome(world) == ("failed", reason)
    world.check()


def test_the_limit_is_looked_at_once_and_owns_nothing(world: World):
    world.add(spec("d", task("a"), dagrun_timeout=LIMIT))
    scheduler = world.scheduler()
    world.worker()
    drain(scheduler)
    rows = world.conn.execute("select task_id from wakeup where due_at > now()").fetchall()
    assert rows == [(None,)]
    [one] = world.claim()
    world.conn.execute("delete from try_hot")
    world.conn.execute("delete from task_hot")
    assert {breach.invariant for breach in invariants.breaches(world.conn)} == {1}
    assert not world.report(one, T.SUCCESS)


@pytest.mark.parametrize("tasks", [4, 80])
def test_the_first_failure_ends_everything_else(world: World, tasks: int):
    others = [task(f"t{n:02}") for n in range(tasks)]
    world.add(spec("d", task("first"), *others, fail_fast=True, max_active_tasks=100))
    scheduler = world.scheduler()
    world.worker()
    drain(scheduler)
    claimed = {one.task_id: one for one in world.claim(2)}
    world.report(claimed.pop("first"), T.FAILED)
    drain(scheduler)
    assert set(told_to_stop(world)) == set(claimed)
    for one in claimed.values():
        report_stopped(world, one, "fail_fast: first failed")
    drain(scheduler)
    assert outcome(world) == ("failed", "fail_fast: first failed")
    assert set(world.states("d").values()) == {"failed", "skipped"}
    world.check()


def test_a_claim_between_the_look_and_the_skip_is_found(world: World):
    """The compare-and-set misses the row, and the run is looked at once more."""
    world.add(spec("d", task("a"), task("b"), fail_fast=True, max_active_tasks=9))
    scheduler = world.scheduler()
    world.worker()
    drain(scheduler)
    [first] = world.claim(1)
    world.report(first, T.FAILED)
    # What the scheduler reads as queued is running when it writes.
    world.conn.execute(
        """create function claimed() returns trigger language plpgsql as $$
           begin
             if new.state = 'skipped' and old.state = 'queued' then return null; end if;
             return new;
           end $$"""
    )
    world.conn.execute(
        "create trigger claimed before update on task_hot for each row execute function claimed()"
    )
    scheduler.run_once()
    world.conn.execute("drop trigger claimed on task_hot")
    [second] = world.claim()
    assert world.runs("d") == ["running"]
    drain(scheduler)
    assert set(told_to_stop(world)) == {second.task_id}
    report_stopped(world, second, "fail_fast")
    drain(scheduler)
    assert world.runs("d") == ["failed"]
    world.check()


def test_a_worker_that_dies_over_it_starts_nothing_anew(world: World):
    world.add(spec("d", task("a"), task("b", retries=3), fail_fast=True))
    scheduler = world.scheduler()
    worker = world.worker()
    drain(scheduler)
    claimed = {one.task_id: one for one in world.claim()}
    world.report(claimed["a"], T.FAILED)
    drain(scheduler)
    assert set(told_to_stop(world)) == {"b"}
    with transaction(world.conn, "test"):
        assert free(world.conn, worker, "gone") == 1
    drain(scheduler)
    assert world.states("d") == {"a": "failed", "b": "skipped"}
    assert world.runs("d") == ["failed"]
    world.check()


def test_what_it_held_of_a_pool_is_free_again(world: World):
    world.pool("p", 1)
    world.add(spec("d", task("a"), task("b", pool="p"), fail_fast=True))
    world.add(spec("other", task("x", pool="p"), start_date=None), due=False)
    scheduler = world.scheduler()
    world.worker()
    drain(scheduler)
    [one] = world.claim(1)
    assert one.task_id == "a"
    world.conn.execute(
        """insert into run (dag_id, version, run_id, run_type, state, logical_date,
             data_interval_start, data_interval_end, interval_run)
           select 'other', 1, 'r', 'manual', 'queued', at, at, at, false
           from (select clock_timestamp() as at) as now"""
    )
    world.conn.execute("insert into wakeup (kind, name) values ('dag', 'other')")
    drain(scheduler)
    assert world.states("other") == {"x": "scheduled"}
    world.report(one, T.FAILED)
    drain(scheduler)
    assert world.states("other") == {"x": "queued"}
