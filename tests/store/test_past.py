"""The chain of runs through scheduler and store: who waits for whom, and who wakes whom."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hand_driven import TODAY, World, spec, task

from flow.roles.schedule import Scheduler
from flow.states import TaskState as T
from flow.store import invariants, past
from flow.store.connect import connect, transaction
from flow.store.tries import Claimed


def chain(world: World, *tasks, runs: int = 3, **fields) -> Scheduler:
    """A DAG with runs of the last days, all of them there; its scheduler."""
    world.add(
        spec("d", *tasks, catchup=True, start_date=TODAY - timedelta(days=runs), **fields),
        due=False,
    )
    world.conn.execute(
        """update dag set cursor_at = %(start)s, next_start = %(start)s, next_end = %(end)s,
             next_run_at = %(end)s""",
        {"start": TODAY - timedelta(days=runs), "end": TODAY - timedelta(days=runs - 1)},
    )
    scheduler = world.scheduler()
    world.worker()
    drain(scheduler)
    return scheduler


def drain(*schedulers: Scheduler) -> None:
    """Let schedulers do all that is due, also what is put off for a moment."""
    soon = "select from wakeup where due_at < clock_timestamp() + interval '1 second'"
    while sum(one.run_once() for one in schedulers) or schedulers[0].conn.execute(soon).fetchone():
        pass


def day(one: Claimed) -> int:
    """How many days ago the run's interval started."""
    return (TODAY - one.logical_date).days


def table(world: World) -> list[dict[str, str]]:
    """The states of each run, the oldest first."""
    rows = world.conn.execute(
        """select r.run_key, t.task_id, t.state from run r left join task t using (run_key)
           order by r.logical_date, r.run_key"""
    ).fetchall()
    found: dict[int, dict[str, str]] = {}
    for run_key, task_id, state in rows:
        found.setdefault(run_key, {})
        if task_id is not None:
            found[run_key][task_id] = state
    return list(found.values())


def run_key(world: World, days: int) -> int:
    row = world.conn.execute(
        "select run_key from run where logical_date = %s", (TODAY - timedelta(days=days),)
    ).fetchone()
    return row[0]


def test_the_first_goes_and_each_waits_for_the_one_before(world: World):
    scheduler = chain(world, task("a", depends_on_past=True), task("b", "a"))
    done = []
    while claimed := world.claim():
        for one in claimed:
            done.append((day(one), one.task_id))
            world.report(one, T.SUCCESS)
        world.check()
        drain(scheduler)
    assert [item for item in done if item[1] == "a"] == [(3, "a"), (2, "a"), (1, "a")]
    assert world.runs("d") == ["success"] * 3
    world.check()


@pytest.mark.parametrize("end", [T.SUCCESS, T.SKIPPED])
def test_success_and_skipped_let_the_next_go(world: World, end: T):
    scheduler = chain(world, task("a", depends_on_past=True), runs=2)
    [one] = world.claim()
    world.report(one, end)
    drain(scheduler)
    assert [day(one) for one in world.claim()] == [1]


def test_a_failure_blocks_until_somebody_repairs_it(world: World):
    scheduler = chain(world, task("a", depends_on_past=True), runs=2)
    [one] = world.claim()
    world.report(one, T.FAILED)
    drain(scheduler)
    assert world.claim() == []
    assert world.runs("d") == ["failed", "running"]
    world.check()
    first = run_key(world, 2)
    with transaction(world.conn, "test"):
        world.conn.execute("select from run where run_key = %s for update", (first,))
        world.conn.execute("update task_history set state = 'success' where run_key = %s", (first,))
        past.wake_followers(world.conn, [(first, None)])
    drain(scheduler)
    assert [day(one) for one in world.claim()] == [1]


def test_a_run_that_succeeded_may_keep_the_next_one_waiting(world: World):
    scheduler = chain(
        world,
        task("a", depends_on_past=True),
        task("end", "a", trigger_rule="all_done"),
        runs=2,
    )
    for end in (T.FAILED, T.SUCCESS):
        [one] = world.claim()
        world.report(one, end)
        drain(scheduler)
    assert world.claim() == []
    assert world.runs("d") == ["success", "running"]
    world.check()


def test_a_run_that_nobody_woke_is_found_by_the_invariants(world: World):
    scheduler = chain(world, task("a", depends_on_past=True), runs=2)
    [one] = world.claim()
    world.report(one, T.SUCCESS)
    world.conn.execute("update run set chained = false")
    scheduler.run_once()
    world.conn.execute("delete from wakeup where kind = 'run'")
    assert [breach.invariant for breach in invariants.breaches(world.conn)] == [1]


def test_wait_for_downstream_waits_for_what_is_directly_below(world: World):
    scheduler = chain(
        world, task("a", wait_for_downstream=True, depends_on_past=True), task("b", "a"),
        task("c", "b"), runs=2,
    )  # fmt: skip
    for task_id, end in (("a", T.SUCCESS), ("b", T.SKIPPED)):
        [one] = world.claim()
        assert (one.task_id, day(one)) == (task_id, 2)
        world.report(one, end)
        drain(scheduler)
    assert [(one.task_id, day(one)) for one in world.claim()] == [("a", 1)]


def test_a_skip_waits_for_the_past_where_it_is_told_to(world: World):
    for name, option in (("waits", True), ("overtakes", False)):
        world.add(
            spec(
                name, task("up"),
                task("t", "up", depends_on_past=True, wait_for_past_depends_before_skipping=option),
                catchup=True, start_date=TODAY - timedelta(days=2),
            ),
            due=False,
        )  # fmt: skip
    world.conn.execute(
        """update dag set cursor_at = %(start)s, next_start = %(start)s, next_end = %(end)s,
             next_run_at = %(end)s""",
        {"start": TODAY - timedelta(days=2), "end": TODAY - timedelta(days=1)},
    )
    scheduler = world.scheduler()
    world.worker()
    drain(scheduler)
    for one in world.claim():
        world.report(one, T.SUCCESS if day(one) == 2 else T.SKIPPED)
    drain(scheduler)
    running = world.claim()
    assert [(one.task_id, day(one)) for one in running] == [("t", 2), ("t", 2)]
    assert world.runs("overtakes") == ["running", "success"]
    assert world.runs("waits") == ["running", "running"]
    for one in running:
        world.report(one, T.SUCCESS)
    drain(scheduler)
    assert world.runs("waits") == ["success", "success"]
    world.check()


def test_a_run_that_comes_in_between_is_waited_for(world: World):
    scheduler = chain(world, task("a", depends_on_past=True), runs=2, max_active_runs=3)
    [one] = world.claim()
    world.report(one, T.FAILED)
    drain(scheduler)
    first, between = TODAY - timedelta(days=2), TODAY - timedelta(days=1, hours=12)
    world.conn.execute(
        """insert into run (dag_id, version, run_id, run_type, state, logical_date,
             data_interval_start, data_interval_end, interval_run)
           values ('d', 1, 'between', 'manual', 'queued', %(at)s, %(at)s, %(at)s, true)""",
        {"at": between},
    )
    world.conn.execute("insert into wakeup (kind, name) values ('dag', 'd')")
    drain(scheduler)
    assert world.claim() == []  # the one between waits for the failed one
    world.conn.execute("delete from run where logical_date = %s", (first,))
    with transaction(world.conn, "test"):
        past.wake_followers(world.conn, [(one.run_key, None)])
        world.conn.execute(
            "insert into wakeup (kind, run_key) select 'run', run_key from run "
            "where past_key = %s", (one.run_key,),
        )  # fmt: skip
    drain(scheduler)
    [one] = world.claim()
    assert one.run_id == "between"
    world.report(one, T.SUCCESS)
    drain(scheduler)
    assert [day(one) for one in world.claim()] == [1]
    world.check()


def test_an_ad_hoc_run_is_outside_of_the_chain_of_a_schedule(world: World):
    scheduler = chain(world, task("a", depends_on_past=True), runs=1)
    world.conn.execute(
        """insert into run (dag_id, version, run_id, run_type, state, logical_date,
             data_interval_start, data_interval_end, interval_run)
           select 'd', 1, 'ad hoc', 'manual', 'queued', at, at, at, false
           from (select clock_timestamp() as at) as now"""
    )
    world.conn.execute("insert into wakeup (kind, name) values ('dag', 'd')")
    drain(scheduler)
    assert sorted(one.run_id == "ad hoc" for one in world.claim()) == [False, True]


def test_a_blocked_run_makes_room_for_the_one_it_waits_for(world: World):
    """With one active run, the previous one cleared while this one holds the only place."""
    scheduler = chain(world, task("a"), task("b", "a", depends_on_past=True), runs=2,
                      max_active_runs=1)  # fmt: skip
    for _ in range(2):
        [one] = world.claim()
        world.report(one, T.SUCCESS)
        drain(scheduler)
    [later] = world.claim()
    assert (later.task_id, day(later)) == ("a", 1)
    first = run_key(world, 2)
    with transaction(world.conn, "test"):
        world.conn.execute(
            "update run set state = 'queued', ended_at = null, reason = null where run_key = %s",
            (first,),
        )
        for kind in ("task", "try"):
            world.conn.execute(f"delete from {kind}_history where run_key = %s", (first,))
        past.wake_followers(world.conn, [(first, None)])
        world.conn.execute("insert into wakeup (kind, name) values ('dag', 'd')")
    drain(scheduler)
    assert world.runs("d") == ["queued", "running"]
    world.report(later, T.SUCCESS)
    drain(scheduler)
    assert world.runs("d") == ["running", "queued"]
    world.check()
    order = []
    while claimed := world.claim():
        for one in claimed:
            order.append((day(one), one.task_id))
            world.report(one, T.SUCCESS)
        drain(scheduler)
    assert order == [(2, "a"), (2, "b"), (1, "b")]
    assert world.runs("d") == ["success", "success"]
    world.check()


@pytest.mark.parametrize("size", [1, 70])
def test_two_schedulers_lose_no_wake_up_of_a_long_chain(world: World, size: int):
    tasks = [task(f"t{n:02}", depends_on_past=True) for n in range(size)]
    chain(world, *tasks, runs=12, max_active_runs=12, max_active_tasks=100)
    stop = False

    def schedule() -> None:
        one = world.scheduler()
        while not stop:
            one.run_once()

    ended = 0
    with ThreadPoolExecutor(2) as threads:
        working = [threads.submit(schedule) for _ in range(2)]
        try:
            with connect(world.dsn, name="test") as conn:
                ended = work(World(world.dsn, conn, world._workers), lambda: any_failed(working))
        finally:
            stop = True
        for one in working:
            one.result()
    assert ended == 12 * size
    assert world.runs("d") == ["success"] * 12
    world.check()


def any_failed(working) -> bool:
    return any(one.done() for one in working)


def work(world: World, broken: Callable[[], bool]) -> int:
    """Claim and report as long as runs are unfinished; how many tries there were."""
    ended = 0
    while "running" in (states := world.runs("d")) or "queued" in states:
        assert not broken()
        for one in world.claim():
            assert world.report(one, T.SUCCESS)
            ended += 1
    return ended
