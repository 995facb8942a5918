"""Who gets a scarce slot or a scarce worker: limits, priority, turns, shares, ageing."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hand_driven import TODAY, World, spec, task
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fair_places import first_place
from flow.decide import Shares
from flow.graph.spec import HIGHEST_PRIORITY
from flow.roles.schedule import Scheduler
from flow.roles.schedule.sweep import sweep
from flow.states import TaskState
from flow.store import gates, invariants, places, wakeups
from flow.store.connect import connect, transaction
from flow.store.places import Waiting
from flow.store.tries import Claimed
from flow.timetables import parse
from waiting import wait_until

STARVED = 600.0


def rest(*schedulers: Scheduler) -> None:
    """Let schedulers work until they have nothing to do."""
    while sum(scheduler.run_once() for scheduler in schedulers):
        pass


def wide(dag_id: str, count: int, **fields):
    """A DAG of so many tasks side by side."""
    own = {name: fields.pop(name) for name in ("max_active_tasks", "timetable") if name in fields}
    return spec(dag_id, *(task(f"t{n:02}", **fields) for n in range(count)),
                **{"max_active_tasks": 1000, **own})  # fmt: skip


def starts(world: World, scheduler: Scheduler, count: int) -> list[Claimed]:
    """The next tasks that a worker with one slot gets, one after the other."""
    found = []
    while len(found) < count:
        rest(scheduler)
        claimed = world.claim(1)
        assert claimed, f"nothing is left after {len(found)}"
        found += claimed
        world.report(claimed[0], TaskState.SUCCESS)
    return found


def dags_of(claimed: list[Claimed]) -> list[str]:
    return [one.dag_id for one in claimed]


@pytest.fixture(params=["p", "default_pool"])
def scarce(request: pytest.FixtureRequest, world: World) -> str:
    """What is scarce: the one slot of a pool, or, in the unlimited one, the worker's."""
    if request.param == "p":
        world.pool("p", 1)
    world.worker()
    return request.param


def test_dags_take_turns_though_one_came_long_before(world: World, scarce: str) -> None:
    world.add(wide("big", 40, pool=scarce))
    scheduler = world.scheduler()
    first = starts(world, scheduler, 10)
    for name in "abc":
        world.add(wide(name, 3, pool=scarce))
    second = dags_of(starts(world, scheduler, 9))
    assert set(dags_of(first)) == {"big"}
    assert set(second[:5]) == {"big", "a", "b", "c"}, second
    assert Counter(second)["big"] <= 3


def test_the_runs_of_a_dag_share_its_turns(world: World, scarce: str) -> None:
    """Many runs are no way to get more."""
    world.add(
        spec("many", task("t", pool=scarce), catchup=True, start_date=TODAY - timedelta(days=12))
    )
    scheduler = world.scheduler()
    rest(scheduler)
    world.add(wide("one", 12, pool=scarce))
    found = Counter(dags_of(starts(world, scheduler, 13)))
    assert abs(found["many"] - found["one"]) == 1  # one of them had the slot before


def test_shares_of_dags_and_owners(world: World, scarce: str) -> None:
    shares = Shares({"a": 2.0}, {"ann": 3.0})
    scheduler = world.scheduler(shares=shares)
    for name in ("a", "b"):
        world.add(wide(name, 30, pool=scarce))
    world.add(wide("c", 30, pool=scarce, owner="ann"))
    found = Counter(dags_of(starts(world, scheduler, 30)))
    assert found == {"a": 10, "b": 5, "c": 15}


def test_a_backfill_moves_and_does_not_hold_up_its_own_dag(world: World, scarce: str) -> None:
    for name in ("filled", "other"):
        world.add(wide(name, 30, pool=scarce, timetable=parse(None, "UTC")), due=False)
        if name == "filled":
            world.conn.execute(
                """insert into backfill (dag_id, run_order, reprocess, version, max_active_runs,
                     created_by) values ('filled', 'oldest', 'none', 'latest', 1, 'ann')"""
            )
        world.conn.execute(
            """insert into run (dag_id, version, run_id, run_type, state, logical_date,
                 data_interval_start, data_interval_end, interval_run, backfill_id)
               values (%s, 1, 'r', 'manual', 'queued', now(), now(), now(), false, %s)""",
            (name, 1 if name == "filled" else None),
        )
    with transaction(world.conn, "test"):
        wakeups.wake_named(world.conn, [("dag", "filled"), ("dag", "other")])
    scheduler = world.scheduler()
    rest(scheduler)
    found = Counter(dags_of(starts(world, scheduler, 20)))
    assert found == {"other": 16, "filled": 4}


def test_priority_goes_first_and_turns_come_within_it(world: World, scarce: str) -> None:
    world.add(wide("low", 6, pool=scarce, priority=1))
    scheduler = world.scheduler()
    rest(scheduler)
    for name in "ab":
        world.add(wide(name, 3, pool=scarce, priority=5))
    world.add(wide("capped", 1, pool=scarce, priority=HIGHEST_PRIORITY))
    world.add(wide("negative", 1, pool=scarce, priority=-7))
    found = dags_of(starts(world, scheduler, 14))
    if scarce == "p":
        assert found.pop(0) == "low"  # it had the slot before
    assert found[0] == "capped"
    assert sorted(found[1:3]) == sorted(found[3:5]) == sorted(found[5:7]) == ["a", "b"]
    assert set(found[7:-1]) == {"low"}
    assert found[-1] == "negative"


def test_a_limit_of_a_task_holds_within_its_run_and_over_all_runs(world: World) -> None:
    world.add(
        spec("d", task("free"), task("few", max_active_tis_per_dag=2), catchup=True,
             start_date=TODAY - timedelta(days=8))
    )  # fmt: skip
    schedulers = [world.scheduler(), world.scheduler()]
    world.worker()
    highest = 0
    while world.runs("d") != ["success"] * 8:
        rest(*schedulers)
        highest = max(highest, world.count("task_id = 'few' and state in ('queued', 'running')"))
        assert world.count("task_id = 'free' and state = 'scheduled'") == 0
        for one in world.claim(3):
            world.report(one, TaskState.SUCCESS)
    assert highest == 2
    world.check()


def test_instances_of_a_mapped_task_keep_to_the_limit_within_their_run(world: World) -> None:
    world.add(spec("d", task("m", max_active_tis_per_dagrun=2)))
    scheduler = world.scheduler()
    rest(scheduler)  # no worker yet: scheduled
    world.conn.execute(
        """insert into task_hot (run_key, task_id, map_path, dag_id, state, try_number, pool, queue,
             executor, priority, run_limit, scheduled_at)
           select run_key, task_id, array[n], dag_id, state, 1, pool, queue, executor, priority,
             run_limit, scheduled_at from task_hot, generate_series(1, 4) as n"""
    )
    world.worker()
    rest(scheduler)
    assert world.count("state = 'queued'") == 2
    assert world.count("state = 'scheduled'") == 3
    world.check()


def test_a_full_dag_hides_nobody_in_a_pool(world: World) -> None:
    world.pool("p", 3)
    blocked = [task(f"t{n:04}", pool="p", priority=9) for n in range(1200)]
    world.add(spec("d", *blocked, concurrency=1, max_active_tasks=5000))
    world.add(wide("other", 2, pool="p"))
    scheduler = world.scheduler()
    world.worker()
    rest(scheduler)
    assert Counter(dags_of(world.claim())) == {"d": 1, "other": 2}


def test_a_task_of_a_pool_that_does_not_exist_waits_for_it(world: World) -> None:
    world.add(wide("d", 2, pool="nope"))
    scheduler = world.scheduler()
    world.worker()
    rest(scheduler)
    assert world.count("state = 'scheduled'") == 2
    world.check()
    world.pool("nope", 5)
    with transaction(world.conn, "test"):
        gates.wake_freed(world.conn, ["nope"])
    assert world.settle(scheduler) == 2


def test_a_task_that_kept_its_slot_counts_and_needs_none(world: World) -> None:
    world.pool("p", 2)
    world.add(wide("d", 4, pool="p"))
    scheduler = world.scheduler()
    rest(scheduler)
    world.conn.execute("update task_hot set keeps_slot = true where task_id in ('t00', 't01')")
    world.worker()
    rest(scheduler)
    claimed = world.claim()
    assert [one.task_id for one in claimed] == ["t00", "t01"]
    world.report(claimed[0], TaskState.SUCCESS)
    rest(scheduler)
    assert [one.task_id for one in world.claim()] == ["t02"]
    world.check()


def test_a_pool_that_gets_a_size_knows_what_is_being_queued(world: World) -> None:
    """A scheduler that saw the pool without limit is waited for."""
    world.add(wide("d", 3))
    scheduler = world.scheduler()
    world.worker()
    with ThreadPoolExecutor(1) as threads:
        with connect(world.dsn, name="test") as other, transaction(other, "test"):
            gates.read(other)
            setting = threads.submit(freeze_and_set, world.dsn)
            wait_until(lambda: waits_for_a_lock(world), "the pool to wait")
            assert not setting.done()
        setting.result()
    rest(scheduler)
    assert world.count("state = 'queued'") == 1
    world.check()


def waits_for_a_lock(world: World) -> bool:
    """Whether somebody in this database does; tests of others have databases of their own."""
    found = world.conn.execute(
        """select exists (select from pg_locks l join pg_database d on d.oid = l.database
             where not l.granted and d.datname = current_database())"""
    ).fetchone()
    return found == (True,)


def freeze_and_set(dsn: str) -> None:
    with connect(dsn, name="test") as conn, transaction(conn, "test"):
        gates.freeze(conn)
        conn.execute("update pool set slots = 1 where name = 'default_pool'")


def waits(world: World, minutes: int, where: str = "true") -> None:
    """As if tasks had begun to wait so long ago."""
    world.conn.execute(
        f"""update task_hot set scheduled_at = scheduled_at - make_interval(mins => {minutes}),
              queued_at = queued_at - make_interval(mins => {minutes}) where {where}"""
    )


def test_a_task_that_waits_too_long_goes_before_any_priority(world: World, scarce: str) -> None:
    world.add(wide("low", 3, pool=scarce, priority=1))
    world.add(wide("high", 20, pool=scarce, priority=HIGHEST_PRIORITY))
    scheduler = world.scheduler()
    assert set(dags_of(starts(world, scheduler, 3))) == {"high"}
    assert sweep(world.conn, STARVED) == 0
    assert set(dags_of(starts(world, scheduler, 3))) == {"high"}
    waits(world, 11, "dag_id = 'low'")
    rest(scheduler)
    world.claim(1 if scarce == "p" else 0)  # the slot was given away before
    assert sweep(world.conn, STARVED) == 0
    world.conn.execute("update task_hot set state = 'success', worker = null, "
                       "ended_at = clock_timestamp() where state = 'running'")  # fmt: skip
    world.conn.execute("delete from try_hot where ended_at is null")
    with transaction(world.conn, "test"):
        gates.wake_freed(world.conn, [scarce])
    found = dags_of(starts(world, scheduler, 3))
    # A quarter of the places at a time, and at least one, each sweep anew.
    assert found[0] == "low"
    assert found.count("low") == (1 if scarce == "p" else 2)


def test_a_starving_task_that_needs_many_slots_gets_them(world: World) -> None:
    world.pool("p", 4)
    world.add(wide("small", 40, pool="p"))
    scheduler = world.scheduler()
    world.worker()
    rest(scheduler)
    world.add(spec("huge", task("t", pool="p", pool_slots=4)))
    rest(scheduler)
    waits(world, 11, "dag_id = 'huge'")
    sweep(world.conn, STARVED)
    seen = []
    while "huge" not in seen and len(seen) < 20:
        seen += dags_of(starts(world, scheduler, 1))
        world.check()
    assert seen[4:] == ["huge"]


def test_the_sweep_finds_an_admission_that_was_lost(world: World) -> None:
    world.pool("p", 1)
    world.add(spec("d", task("a", pool="p"), task("b", pool="p")))
    scheduler = world.scheduler()
    world.worker()
    rest(scheduler)
    assert sweep(world.conn, STARVED) == 0
    [one] = world.claim()
    world.report(one, TaskState.SUCCESS)
    assert sweep(world.conn, STARVED) == 0  # its wake-ups are there
    world.conn.execute("delete from wakeup")
    assert [breach.invariant for breach in invariants.breaches(world.conn)] == [1]
    assert sweep(world.conn, STARVED) == 1
    world.check()
    assert world.settle(scheduler) == 1
    assert world.runs("d") == ["success"]


def test_the_sweep_finds_lost_admissions_of_an_unlimited_pool(world: World) -> None:
    world.add(wide("d", 3, max_active_tasks=1))
    scheduler = world.scheduler()
    world.worker()
    rest(scheduler)
    [one] = world.claim()
    world.report(one, TaskState.SUCCESS)
    world.conn.execute("delete from wakeup")
    assert sweep(world.conn, STARVED) == 2  # two tasks that could take the place
    assert world.settle(scheduler) == 2
    assert world.runs("d") == ["success"]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["scheduled", "queued", "running"]),
            st.sampled_from(["a", "b"]),
            st.booleans(),
            st.integers(-1, 30),
            st.sampled_from([1, 2]),
        ),
        max_size=8,
    ),
    st.sampled_from(["p", None]),
    st.sampled_from(["a", "b"]),
    st.booleans(),
)
def test_the_store_places_tasks_as_the_rule_says(
    world: World,
    rows: list[tuple[str, str, bool, int, int]],
    pool: str | None,
    dag_id: str,
    backfill: bool,
) -> None:
    conn = world.conn
    conn.execute("begin")
    try:
        for name in "ab":
            world.add(spec(name, task("t")))
            conn.execute(
                """insert into run (run_key, dag_id, version, run_id, run_type, state, logical_date,
                     data_interval_start, data_interval_end, interval_run, started_at, backfill_id)
                   select ascii(%(dag)s) * 10 + n, %(dag)s, 1, n::text, 'manual', 'running', now(),
                     now(), now(), false, now(), nullif(n, 0) from generate_series(0, 1) as n""",
                {"dag": name},
            )
        for number, (state, name, filling, place, priority) in enumerate(rows):
            conn.execute(
                """insert into task_hot (run_key, task_id, dag_id, state, try_number, pool, queue,
                     executor, priority, rank, turn, queued_at, worker)
                   values (ascii(%s) * 10 + %s, %s, %s, %s, 1, 'p', 'q', 'local', %s, %s, %s, now(),
                     %s)""",
                (name, int(filling), f"t{number}", name, state, priority, place, place,
                 1 if state == "running" else None),
            )  # fmt: skip
        one = Waiting(dag_id, pool, "local", "q", 1, 7, backfill)
        found = conn.execute(f"select {places.PLACES}", places.place([one]).parameters).fetchone()
    finally:
        conn.execute("rollback")
    same = [row for row in rows if row[4] == 1 and row[3] >= 0]
    line = [row for row in same if row[0] == ("queued" if pool is None else "scheduled")]
    if pool is None:
        clock = min((row[3] for row in line), default=None)
    else:
        clock = max((row[3] for row in same if row[0] in ("queued", "running")), default=None)
        if clock is None:
            clock = min((row[3] for row in line), default=None)
    last = max((row[3] for row in line if row[1:3] == (dag_id, backfill)), default=None)
    assert found == ([first_place(clock, last, 7)],)
