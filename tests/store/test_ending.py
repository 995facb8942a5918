"""The end of a run wakes its DAG where something may have waited for it, and else does not."""

from collections.abc import Iterator

import pytest
from hand_driven import World, spec, task

from flow.roles.schedule.decisions import decide_woken
from flow.states import RunState
from flow.states import TaskState as T
from flow.store import runs, schedule
from flow.store.connect import Conn, connect, transaction
from flow.store.runs import EndedRun

HOLD = "select from dag for no key update"
QUEUED_RUN = """
insert into run (dag_id, run_id, run_type, state, version, logical_date, data_interval_start,
  data_interval_end, interval_run)
select dag_id, 'next', 'manual', 'queued', version, now(), now(), now(), false from run
"""
READY_TASK = """
insert into task_hot (run_key, task_id, dag_id, state, pool, queue, executor, priority)
select new_run_key(), 'a', dag_id, 'scheduled', 'default_pool', 'default', 'local', 1 from run
"""
BACKFILL = """
insert into backfill (dag_id, run_order, reprocess, version, max_active_runs, created_by)
select dag_id, 'oldest', 'none', 'latest', 1, 'x' from dag
"""
NO_TIME = "update dag set next_run_at = null, next_start = null, next_end = null"


@pytest.fixture
def other(database: str) -> Iterator[Conn]:
    """A connection of somebody else's."""
    with connect(database, name="other") as conn:
        yield conn


@pytest.fixture
def ended(world: World) -> World:
    """A DAG whose next run is due tomorrow, and a run of which all tasks have ended but one."""
    world.add(spec("d", task("a")))
    world.worker()
    scheduler = world.scheduler()
    while scheduler.run_once():
        pass
    return world


def wakes_its_dag(world: World, state: T = T.SUCCESS) -> bool:
    """Let the run end; whether that leaves a wake-up of the DAG."""
    [claimed] = world.claim()
    world.report(claimed, state)
    scheduler = world.scheduler()
    decide_woken(scheduler.conn, scheduler.graphs, scheduler.settings.shares, scheduler.notifier)
    assert world.runs("d")[0] == state
    found = world.conn.execute("select name from wakeup where kind = 'dag'").fetchall()
    return found == [("d",)]


def test_nothing_waits(ended: World):
    assert not wakes_its_dag(ended)
    assert ended.conn.execute("select from wakeup").fetchall() == []
    ended.check()


@pytest.mark.parametrize("waiting", [QUEUED_RUN, READY_TASK, BACKFILL, NO_TIME])
def test_something_waits(ended: World, waiting: str):
    ended.conn.execute(waiting)
    assert wakes_its_dag(ended)


def test_a_failure_may_pause_the_dag(ended: World):
    assert wakes_its_dag(ended, T.FAILED)


def test_who_holds_the_dag_may_be_making_something_wait(ended: World, other: Conn):
    with transaction(other, "test"):
        other.execute(HOLD)
        assert wakes_its_dag(ended)


def test_until_its_commit_nobody_makes_anything_wait(ended: World, other: Conn):
    """Whoever counts the unfinished runs counts them before its end or after it."""
    ended.conn.execute("update dag set next_run_at = now()")
    [(run_key,)] = ended.conn.execute("select run_key from run")

    def due() -> list[str]:
        with transaction(other, "test", opening=[schedule.take_due(10)]) as answers:
            return [dag.dag_id for dag in schedule.due(answers.opening)[0]]

    with transaction(ended.conn, "test"):
        ended.conn.execute("select from run for no key update")
        assert due() == ["d"]
        runs.end(ended.conn, [EndedRun(run_key, "d", RunState.SUCCESS, None)])
        ended.conn.execute("select 1")
        assert due() == []
    assert due() == ["d"]
