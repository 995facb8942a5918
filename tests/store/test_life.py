"""The life of runs and tasks through scheduler and store, with workers driven by hand."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hand_driven import TODAY, World, spec, succeed, task

from flow import faults
from flow.decide import RunFacts, TaskFacts, View, decide
from flow.graph import Graph, TriggerRule
from flow.roles.losses import free
from flow.roles.schedule.rescue import Watch
from flow.roles.schedule.sweep import sweep
from flow.states import MAX_LOSSES, RunState
from flow.states import TaskState as T
from flow.store import processes, tries
from flow.store.connect import connect, transaction
from flow.store.processes import Observed


def test_a_due_chain_runs_to_success_and_its_rows_move_to_history(world: World):
    world.add(spec("d", task("a"), task("b", "a"), task("c", "b")))
    assert world.settle(world.scheduler()) == 3
    assert world.runs("d") == ["success"]
    assert world.states("d") == {"a": "success", "b": "success", "c": "success"}
    assert world.count("true") == 0
    in_order = "select queued_at <= started_at and started_at <= ended_at from run"
    assert world.conn.execute(in_order).fetchall() == [(True,)]
    world.check()


def test_a_run_is_created_once_for_its_interval_however_often_it_is_due(world: World):
    world.add(spec("d", task("a")))
    scheduler = world.scheduler()
    world.settle(scheduler)
    world.conn.execute("update dag set next_run_at = now(), cursor_at = null")
    world.settle(scheduler)
    assert world.runs("d") == ["success"]


def test_nothing_is_queued_before_a_worker_serves_the_queue(world: World):
    world.add(spec("d", task("a"), task("g", queue="gpu")))
    scheduler = world.scheduler()
    world.worker("default")
    world.settle(scheduler)
    assert world.states("d") == {"a": "success", "g": "scheduled"}
    world.check()
    [waiting] = world.claim(queue="gpu") or [None]
    assert waiting is None
    scheduler.run_once()
    [claimed] = world.claim(queue="gpu")
    world.report(claimed, T.SUCCESS)
    world.settle(scheduler)
    assert world.runs("d") == ["success"]


def test_a_failed_try_is_retried_when_due_and_its_number_grows(world: World):
    world.add(spec("d", task("a", retries=2, retry_delay=0.0)))
    numbers = []

    def fail_twice(one: tries.Claimed) -> T:
        numbers.append(one.try_number)
        return T.SUCCESS if one.try_number == 3 else T.FAILED

    world.settle(world.scheduler(), outcome=fail_twice)
    assert numbers == [1, 2, 3]
    assert world.runs("d") == ["success"]
    world.check()


def test_a_retry_that_is_not_due_waits_with_a_wake_up(world: World):
    world.add(spec("d", task("a", retries=1, retry_delay=3600.0)))
    world.settle(world.scheduler(), outcome=lambda _: T.FAILED)
    assert world.states("d") == {"a": "up_for_retry"}
    world.check()
    row = world.conn.execute("select due_at > now() + interval '59 minutes' from wakeup").fetchone()
    assert row == (True,)


def test_a_failure_without_retries_ends_the_run_and_everything_below(world: World):
    world.add(spec("d", task("a"), task("b", "a"), task("c", "b")))
    world.settle(world.scheduler(), outcome=lambda _: T.FAILED)
    assert world.states("d") == {"a": "failed", "b": "upstream_failed", "c": "upstream_failed"}
    assert world.runs("d") == ["failed"]
    world.check()


def test_what_a_branch_skips_is_skipped_and_never_claimed(world: World):
    world.add(
        spec("d", task("b"), task("x", "b"), task("y", "b"),
             task("j", "x y", trigger_rule=TriggerRule.NONE_FAILED))
    )  # fmt: skip
    scheduler = world.scheduler()
    world.worker()
    scheduler.run_once()
    [branch] = world.claim()
    world.report(branch, T.SUCCESS, skips=("x",))
    world.settle(scheduler)
    assert world.states("d") == {"b": "success", "x": "skipped", "y": "success", "j": "success"}


@pytest.mark.parametrize("slots", [1, 3])
def test_a_pool_is_never_overbooked_and_everything_gets_through(world: World, slots: int):
    world.pool("p", slots)
    world.add(spec("d", *(task(f"t{n}", pool="p") for n in range(7))))
    schedulers = [world.scheduler(), world.scheduler()]
    world.worker()
    highest = 0
    while world.runs("d") != ["success"]:
        for scheduler in schedulers:
            scheduler.run_once()
        highest = max(highest, world.count("state in ('queued', 'running')"))
        for one in world.claim(1):
            world.report(one, T.SUCCESS)
        world.check()
    assert highest == slots


def test_a_task_that_needs_more_slots_than_are_free_does_not_hide_a_smaller_one(world: World):
    world.pool("p", 2)
    world.add(spec("d", task("big", pool="p", pool_slots=3, priority=9), task("small", pool="p")))
    world.settle(world.scheduler())
    assert world.states("d") == {"big": "scheduled", "small": "success"}


@pytest.mark.parametrize("tasks", [10, 150])
def test_the_limit_of_a_run_holds_and_frees_the_next(world: World, tasks: int):
    world.add(spec("d", *(task(f"t{n:03}") for n in range(tasks)), max_active_tasks=4))
    scheduler = world.scheduler()
    world.worker()
    highest = 0
    while world.runs("d") != ["success"]:
        while scheduler.run_once():
            pass
        highest = max(highest, world.count("state in ('queued', 'running')"))
        claimed = world.claim(3)
        assert claimed or world.runs("d") == ["success"], world.states("d")
        for one in claimed:
            world.report(one, T.SUCCESS)
    assert highest == 4
    world.check()


def test_the_limit_of_a_dag_holds_over_all_its_runs(world: World):
    world.add(
        spec("d", *(task(f"t{n}") for n in range(5)), concurrency=3, catchup=True,
             start_date=TODAY - timedelta(days=4))
    )  # fmt: skip
    schedulers = [world.scheduler(), world.scheduler()]
    world.worker()
    highest = 0
    while world.runs("d") != ["success"] * 4:
        for scheduler in schedulers:
            scheduler.run_once()
        highest = max(highest, world.count("state in ('queued', 'running')"))
        for one in world.claim(2):
            world.report(one, T.SUCCESS)
    assert highest == 3
    world.check()


def test_the_wake_up_of_a_run_is_one_of_the_others_that_wait_for_its_place_in_the_dag(
    world: World,
):
    """The end of a task frees a place in the DAG; who decides its run wakes the DAG."""
    world.add(
        spec("d", task("a"), task("b", "a"), concurrency=1, catchup=True,
             start_date=TODAY - timedelta(days=2))
    )  # fmt: skip
    scheduler = world.scheduler()
    world.worker()
    while scheduler.run_once():
        pass
    [one] = world.claim()
    world.report(one, T.SUCCESS)
    assert world.count("state = 'scheduled'") == 1
    world.check()
    assert sweep(world.conn, 600) == 0
    assert world.settle(scheduler) == 3


def test_runs_of_a_dag_with_one_active_run_follow_each_other_oldest_first(world: World):
    world.add(
        spec("d", task("a"), catchup=True, max_active_runs=1,
             start_date=TODAY - timedelta(days=5))
    )  # fmt: skip
    scheduler = world.scheduler()
    world.worker()
    dates = []
    while len(dates) < 5:
        while scheduler.run_once():
            pass
        active = world.conn.execute("select count(*) from run where state = 'running'").fetchone()
        assert active == (1,)
        [one] = world.claim()
        dates.append(one.logical_date)
        world.report(one, T.SUCCESS)
    world.settle(scheduler)
    assert dates == sorted(dates)
    assert world.runs("d") == ["success"] * 5
    world.check()


def test_a_late_report_of_a_lost_try_changes_nothing(world: World):
    world.add(spec("d", task("a")))
    scheduler = world.scheduler()
    worker = world.worker()
    scheduler.run_once()
    [old] = world.claim()
    with transaction(world.conn, "test"):
        assert free(world.conn, worker, "gone") == 1
    scheduler.run_once()
    [new] = world.claim()
    assert (new.try_number, new.claim) == (2, old.claim + 1)
    assert not world.report(old, T.FAILED)
    assert world.report(new, T.SUCCESS)
    assert not world.report(new, T.FAILED)
    world.settle(scheduler)
    assert world.runs("d") == ["success"]
    closed = world.conn.execute("select try_number, state from try order by 1").fetchall()
    assert closed == [(1, "lost"), (2, "success")]
    world.check()


def test_losses_cost_no_retry_until_they_are_too_many_in_a_row(world: World):
    world.add(spec("d", task("a")))
    scheduler = world.scheduler()
    worker = world.worker()
    for _ in range(MAX_LOSSES + 1):
        while scheduler.run_once():
            pass
        assert len(world.claim()) == 1
        with transaction(world.conn, "test"):
            free(world.conn, worker, "gone")
    world.settle(scheduler)
    assert world.runs("d") == ["failed"]
    rows = world.conn.execute("select state, reason from try order by try_number").fetchall()
    assert [state for state, _ in rows] == ["lost"] * MAX_LOSSES + ["failed"]
    assert rows[-1][1].startswith("worker_lost")
    assert world.conn.execute("select reason_code from task").fetchall() == [("worker_lost",)]
    world.check()


def test_what_goes_back_from_a_queue_wakes_all_who_wait_for_its_place(world: World):
    world.pool("narrow", 1)
    world.add(
        spec("d", task("g", queue="gpu", pool="narrow", priority=9), task("x", pool="narrow"))
    )
    scheduler = world.scheduler()
    gone = world.worker("gpu")
    world.worker("default")
    scheduler.run_once()
    scheduler.run_once()
    assert world.states("d") == {"g": "queued", "x": "scheduled"}
    with transaction(world.conn, "test"):
        processes.end(world.conn, gone, "died")
    sweep(world.conn, 600)
    assert world.states("d")["g"] == "scheduled"
    assert world.settle(scheduler) == 1  # its slot serves the other one
    assert world.states("d") == {"g": "scheduled", "x": "success"}
    world.check()


def test_a_worker_that_came_while_a_task_went_back_gets_it_all_the_same(world: World):
    world.add(spec("d", task("a")))
    scheduler = world.scheduler()
    gone = world.worker()
    scheduler.run_once()
    with transaction(world.conn, "test"):
        processes.end(world.conn, gone, "died")
    # The wake-up of the next worker is served before the sweep, which looked before it came.
    sweep(world.conn, 600)
    world._workers.clear()
    world.worker()
    world.conn.execute(
        "delete from wakeup where kind = 'queue' and id = (select max(id) from wakeup)"
    )
    assert world.settle(scheduler) == 1
    assert world.runs("d") == ["success"]


@pytest.mark.parametrize("step", ["create", "decide"])
def test_a_worker_that_came_while_a_task_became_ready_gets_it_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
):
    """Its wake-up is served by another scheduler before the first one commits."""
    world.add(spec("d", task("a"), task("g", "a" if step == "decide" else "", queue="gpu")))
    deciding, other = world.scheduler(), world.scheduler()
    world.worker()
    came = False

    def come(name: str) -> None:
        nonlocal came
        if name == f"schedule.{step}.before_commit" and not came:
            came = True
            world.worker("gpu")
            while other.run_once():
                pass

    if step == "decide":
        deciding.run_once()
        [above] = world.claim()
        world.report(above, T.SUCCESS)
    monkeypatch.setattr(faults, "point", come)
    deciding.run_once()
    assert came
    world.check()
    deciding.run_once()
    [claimed] = world.claim(queue="gpu")
    assert claimed.key.task_id == "g"


def test_a_process_is_overdue_only_after_standing_still_before_our_eyes():
    watch = Watch(pace=5.0)
    seen = Observed(1, "work", "h", 1, heartbeat=7, lost_after=10.0)
    assert watch.overdue([seen], 100.0) == []
    assert watch.overdue([seen], 109.9) == []
    assert watch.overdue([seen._replace(heartbeat=8)], 110.0) == []
    assert watch.overdue([seen._replace(heartbeat=8)], 119.9) == []
    assert watch.overdue([seen._replace(heartbeat=8)], 120.0) == [seen._replace(heartbeat=8)]


def test_a_time_in_which_nobody_looked_makes_nobody_lost():
    watch = Watch(pace=2.0)
    seen = Observed(1, "work", "h", 1, heartbeat=7, lost_after=10.0)
    assert watch.overdue([seen], 100.0) == []
    # The database stood still, or this scheduler did: the worker may not have been heard either.
    assert watch.overdue([seen], 500.0) == []
    assert watch.overdue([seen], 502.0) == []
    assert watch.overdue([seen], 506.0) == [seen]


def test_a_loss_is_declared_once_and_not_of_one_that_moved(world: World):
    worker = world.worker()
    with transaction(world.conn, "test"):
        processes.heartbeat(world.conn, worker)
        assert not processes.lose(world.conn, worker, 0)
        assert processes.lose(world.conn, worker, 1)
        assert not processes.lose(world.conn, worker, 1)
        assert not processes.heartbeat(world.conn, worker)


def test_who_was_lost_and_has_not_heard_of_it_claims_nothing(world: World):
    world.add(spec("d", task("a")))
    scheduler = world.scheduler()
    worker = world.worker()
    scheduler.run_once()
    with transaction(world.conn, "test"):
        assert processes.lose(world.conn, worker, 0)
        free(world.conn, worker, "lost")
    assert world.claim() == []
    assert world.states("d") == {"a": "queued"}
    world.check()


def test_who_is_just_claiming_is_not_lost(world: World, database: str):
    worker = world.worker()
    with connect(database, name="claims") as other, transaction(other, "test"):
        assert not tries.claim(
            other, worker=worker, host="h", executor="local", queues=["default"], limit=1
        )
        with transaction(world.conn, "test"):
            assert not processes.lose(world.conn, worker, 0)
    with transaction(world.conn, "test"):
        assert processes.lose(world.conn, worker, 0)


def layers(width: int, depth: int):
    """Dense layers: every task of one waits for every task of the one before."""
    for level in range(depth):
        above = " ".join(f"t{level - 1}_{n:02}" for n in range(width)) if level else ""
        for n in range(width):
            yield task(f"t{level}_{n:02}", above, trigger_rule=list(TriggerRule)[n % 13])


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_a_large_run_decided_by_neighbourhood_ends_as_one_decided_whole(world: World, limit: int):
    dag = spec("d", *layers(13, 6), max_active_tasks=1000)
    ends = (T.SUCCESS, T.FAILED, T.SKIPPED)

    def outcome(task_id: str) -> T:
        return ends[sum(map(ord, task_id)) % 3]

    world.add(dag)
    world.settle(world.scheduler(), outcome=lambda one: outcome(one.task_id), limit=limit)
    world.check()
    if limit == 100:  # rules that fire early make the end depend on the order; here it is one
        assert world.states("d") == whole(dag, outcome)
    assert world.runs("d")[0] in ("success", "failed")
    assert len(world.states("d")) == len(dag.tasks)


def whole(dag, outcome) -> dict[str, str]:
    """The end of a run decided with complete views, all ready tasks ending together."""
    graph, states = Graph(dag), {}
    now = TODAY
    decision = decide(graph, RunFacts(now, fresh=True), None, View())
    while True:
        ready = []
        for change in decision.changes:
            states[change.task_id] = change.state
            if change.state is T.SCHEDULED:
                ready.append(change.task_id)
        if decision.verdict is not None:
            return {task_id: state.value for task_id, state in states.items()}
        for task_id in ready:
            states[task_id] = outcome(task_id)
        view = View({task_id: TaskFacts(state) for task_id, state in states.items()})
        decision = decide(graph, RunFacts(now), ready, view)


def test_two_schedulers_at_once_lose_nothing_and_do_nothing_twice(world: World):
    for number in range(25):
        world.add(
            spec(f"d{number}", task("a"), task("b", "a"), task("c", "a"), task("d", "b c"),
                 pool_of(world, number))
        )  # fmt: skip
    world.worker()
    schedulers = [world.scheduler(), world.scheduler(), world.scheduler()]
    worked: Counter[tuple[str, str]] = Counter()

    def schedule(one) -> None:
        for _ in range(400):
            one.run_once()

    with ThreadPoolExecutor(3) as threads:
        futures = [threads.submit(schedule, one) for one in schedulers]
        while not all(future.done() for future in futures):
            for claimed in world.claim(10):
                worked[claimed.dag_id, claimed.task_id] += 1
                world.report(claimed, T.SUCCESS)
        for future in futures:
            future.result()
    world.settle(*schedulers, outcome=succeed)
    assert set(worked.values()) <= {1}
    for number in range(25):
        assert world.runs(f"d{number}") == [RunState.SUCCESS]
    world.check()


def pool_of(world: World, number: int):
    """A task in one of three small pools, made when first asked for."""
    name = f"p{number % 3}"
    world.conn.execute("insert into pool values (%s, 2) on conflict do nothing", (name,))
    return task("e", "a", pool=name)


def test_a_full_pool_hides_no_ready_task_of_a_large_run(world: World):
    world.pool("full", 1)
    world.add(spec("h", task("holder", pool="full")))
    scheduler = world.scheduler()
    world.worker()
    while scheduler.run_once():
        pass
    assert [one.task_id for one in world.claim()] == ["holder"]
    pooled = [task(f"p{n:02}", pool="full", priority=9) for n in range(70)]
    world.add(spec("d", *pooled, *(task(f"z{n}") for n in range(3)), max_active_tasks=1))
    assert world.settle(scheduler) == 3
    assert world.count("state = 'scheduled' and pool = 'full'") == 70


def test_a_place_freed_in_a_large_run_reaches_the_tasks_that_wait_for_a_pool(world: World):
    world.pool("small", 5)
    outside = [task(f"a{n}", priority=9) for n in range(2)]
    pooled = [task(f"p{n:02}", pool="small") for n in range(70)]
    world.add(spec("d", *outside, *pooled, max_active_tasks=2))
    assert world.settle(world.scheduler()) == 72
    assert world.runs("d") == ["success"]


def test_a_pool_that_somebody_holds_is_passed_over_and_served_afterwards(world: World):
    for name in ("a", "z"):
        world.pool(name, 1)
        world.add(spec(name, task("t", pool=name)))
    world.worker()
    scheduler = world.scheduler()
    with connect(world.dsn, name="test") as other, transaction(other, "test"):
        other.execute("select from pool where name = 'a' for no key update")
        scheduler.run_once()
        scheduler.run_once()
        assert world.states("z") == {"t": "queued"}
        assert world.states("a") == {"t": "scheduled"}
    world.conn.execute("update wakeup set due_at = clock_timestamp()")
    assert world.settle(scheduler) == 2
    assert world.runs("a") == world.runs("z") == ["success"]


@pytest.mark.parametrize("state", ["scheduled", "queued", "up_for_retry", "running"])
def test_a_row_that_was_deleted_by_hand_is_made_again_under_new_numbers(world: World, state: str):
    world.add(spec("d", task("a", retries=2, retry_delay=0.0), task("b", "a")))
    scheduler = world.scheduler()
    world.worker()
    scheduler.run_once()
    [first] = world.claim()
    world.report(first, T.FAILED)
    if state == "scheduled":
        world.conn.execute("update process set draining = true")
    if state != "up_for_retry":
        scheduler.run_once()
    running = world.claim() if state == "running" else []
    assert world.states("d") == {"a": state}
    world.conn.execute("delete from task_hot")
    world.conn.execute("update process set draining = false")
    sweep(world.conn, 600)  # nothing wakes the run, but for the retry's own wake-up
    while scheduler.run_once():
        pass
    [again] = world.claim()
    number = 3 if running else 2
    assert (again.try_number, again.claim) == (number, number)
    assert not any(world.report(one, T.SUCCESS) for one in running)
    world.check()
    assert world.report(again, T.SUCCESS)
    world.settle(scheduler)
    assert world.runs("d") == ["success"]
    assert world.states("d") == {"a": "success", "b": "success"}
    world.check()
