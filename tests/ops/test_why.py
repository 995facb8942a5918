"""Why something waits or ended so: every gate with its numbers, and the first cause."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from flow.decide import Ending
from flow.decide.reason import Code
from flow.errors import NotFound
from flow.graph import TaskSpec
from flow.ops import cancelling, clearing, holding, marks, pools, running, status, why
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.ops.why import Answer
from flow.ops.why_task import Verdict
from flow.states import TaskState, TryState
from flow.store import tries
from flow.store.connect import transaction
from flow.store.tries import Claimed, Report
from operations_world import World


@pytest.fixture(autouse=True)
def scheduler(world: World) -> None:
    world.rows(
        "insert into process (role, host, pid, version, lost_after)"
        " values ('schedule', 'here', 2, 'test', 300) returning 1"
    )


def start(world: World, run_id: str = "it", **fields: Any) -> str:
    world.define("sales", **fields)
    running.run(world.deployment, Wish("sales", run_id=run_id))
    world.schedule()
    return run_id


def ask(world: World, run: str | None = "it", task: str | None = None) -> Answer:
    return why.why(world.deployment, "sales", run, task)


def said(answer: Answer) -> dict[Code, str]:
    return {reason.code: reason.text() for reason in answer.reasons}


def fail(world: World, claimed: Claimed, **fields: Any) -> None:
    ending = Ending(TaskState.FAILED, TryState.FAILED, **fields)
    with transaction(world.conn, "test"):
        tries.report(world.conn, [Report(claimed.key, ending)])
    world.schedule()


class TestTaskThatWaits:
    def test_for_its_upstream(self, world: World) -> None:
        start(world)
        answer = ask(world, "it", "load")
        assert (answer.state, answer.verdict) == ("none", Verdict.WAITS)
        assert said(answer) == {
            Code.UPSTREAM: "trigger rule all_success: 1 of 1 upstream tasks have not ended: "
            "extract (queued)"
        }
        assert answer.reasons[0].refers_to == "sales/it/extract"

    def test_for_nothing_but_the_next_pass(self, world: World) -> None:
        start(world)
        world.end(world.claim()["extract"])
        assert list(said(ask(world, "it", "load"))) == [Code.DUE]

    def test_for_a_slot_of_its_pool(self, world: World) -> None:
        world.rows("insert into pool (name, slots) values ('small', 2) returning 1")
        tasks = [
            TaskSpec(task_id=name, operator="X", pool="small", pool_slots=slots)
            for name, slots in (("a", 2), ("b", 1), ("c", 1), ("d", 3))
        ]
        start(world, tasks=tasks)
        texts = said(ask(world, "it", "c"))
        assert texts[Code.POOL_FULL] == "pool small: 2 of 2 slots used, and it needs 1"
        assert texts[Code.POOL_HOLDER].startswith("oldest holder of pool small: sales/it/a, since")
        assert texts[Code.POOL_AHEAD] == "ready tasks that go first in pool small: 1"
        assert Code.POOL_TOO_SMALL in said(ask(world, "it", "d"))

    def test_for_every_limit_at_once(self, world: World) -> None:
        tasks = [TaskSpec(task_id=name, operator="X") for name in ("a", "b", "c")]
        start(world, tasks=tasks, max_active_tasks=1, concurrency=1)
        texts = said(ask(world, "it", "b"))
        assert texts == {
            Code.RUN_FULL: "max_active_tasks: 1 of 1 tasks of the run are active",
            Code.DAG_FULL: "concurrency: 1 of 1 tasks of the DAG are active over all its runs",
        }

    @pytest.mark.parametrize(
        ("size", "code", "said_"),
        [
            (None, Code.POOL_UNKNOWN, "there is no pool p; make it: flow pools set p N"),
            (0, Code.POOL_CLOSED, "pool p has 0 slots: nothing starts"),
            (2, Code.POOL_TOO_SMALL, "pool p: it needs 3 of 2 slots: it can never start"),
        ],
    )
    def test_for_a_pool_that_can_never_do(
        self, world: World, size: int | None, code: Code, said_: str
    ) -> None:
        if size is not None:
            pools.set_(world.deployment, "p", size)
        start(world, tasks=[TaskSpec(task_id="a", operator="X", pool="p", pool_slots=3)])
        assert said(ask(world, "it", "a")) == {code: said_}

    def test_for_slots_that_a_waiting_task_keeps(self, world: World) -> None:
        pools.set_(world.deployment, "p", 1, include_deferred=True)
        tasks = [TaskSpec(task_id=name, operator="X", pool="p") for name in ("a", "b")]
        start(world, tasks=tasks)
        world.claim()
        world.rows(
            "update task_hot set state = 'deferred', worker = null, keeps_slot = true"
            " where task_id = 'a' returning 1"
        )
        texts = said(ask(world, "it", "b"))
        assert list(texts) == [Code.POOL_FULL, Code.POOL_HOLDER]
        assert texts[Code.POOL_FULL] == "pool p: 1 of 1 slots used, and it needs 1"
        assert texts[Code.POOL_HOLDER].startswith("oldest holder of pool p: sales/it/a, since")
        world.rows("update task_hot set state = 'scheduled' where task_id = 'a' returning 1")
        assert list(said(ask(world, "it", "a"))) == [Code.DUE]
        assert list(said(ask(world, "it", "b"))) == [Code.POOL_FULL, Code.POOL_HOLDER]

    def test_for_its_turn_in_the_pool(self, world: World) -> None:
        pools.set_(world.deployment, "p", 2)
        tasks = [
            TaskSpec(task_id=name, operator="X", pool="p", pool_slots=slots)
            for name, slots in (("a", 1), ("b", 2), ("c", 1))
        ]
        start(world, tasks=tasks)
        world.rows(
            "update task_hot set state = 'scheduled', queued_at = null, turn = case task_id"
            " when 'a' then 3 when 'b' then 2 else 1 end where state <> 'none' returning 1"
        )
        assert list(said(ask(world, "it", "c"))) == [Code.DUE]
        ahead = {Code.POOL_AHEAD: "ready tasks that go first in pool p: 2"}
        assert said(ask(world, "it", "a")) == ahead
        pools.set_(world.deployment, "p", 1)
        ahead = {Code.POOL_AHEAD: "ready tasks that go first in pool p: 1"}
        assert said(ask(world, "it", "a")) == ahead

    def test_for_one_that_has_waited_too_long(self, world: World) -> None:
        pools.set_(world.deployment, "p", 2)
        tasks = [
            TaskSpec(task_id=name, operator="X", pool="p", pool_slots=slots)
            for name, slots in (("a", 1), ("b", 2), ("c", 1))
        ]
        start(world, tasks=tasks)
        world.rows(
            "update task_hot set state = 'scheduled', queued_at = null, turn = case task_id"
            " when 'b' then -1 else 2 end where task_id <> 'a' returning 1"
        )
        assert list(said(ask(world, "it", "b"))) == [Code.POOL_FULL, Code.POOL_HOLDER]
        answer = ask(world, "it", "c")
        assert said(answer) == {
            Code.POOL_KEPT: "pool p is kept for sales/it/b, which has waited too long and needs 2 "
            "slots"
        }
        assert answer.reasons[0].refers_to == "sales/it/b"
        world.rows("update task_hot set queue = 'gpu' where task_id = 'b' returning 1")
        assert Code.POOL_KEPT not in said(ask(world, "it", "c"))

    def test_for_the_limits_of_its_own_instances(self, world: World) -> None:
        limits = {"max_active_tis_per_dag": 1, "max_active_tis_per_dagrun": 1}
        start(world, "first", tasks=[TaskSpec(task_id="a", operator="X", **limits)])
        running.run(world.deployment, Wish("sales", run_id="second"))
        world.schedule()
        assert said(ask(world, "second", "a")) == {
            Code.TASK_IN_DAG_FULL: "max_active_tis_per_dag: 1 of 1 instances of a are active over "
            "all runs"
        }
        world.rows(
            "insert into task_hot (run_key, task_id, map_path, dag_id, state, pool, queue,"
            " executor, priority, try_number, queued_at)"
            " select run_key, task_id, '{1}', dag_id, 'queued', pool, queue, executor, 1, 1, now()"
            " from task_hot where state = 'scheduled' returning 1"
        )
        assert list(said(ask(world, "second", "a"))) == [
            Code.TASK_IN_RUN_FULL, Code.TASK_IN_DAG_FULL,
        ]  # fmt: skip

    def test_for_a_worker_that_serves_its_queue(self, world: World) -> None:
        start(world, tasks=[TaskSpec(task_id="a", operator="X", queue="gpu")])
        assert said(ask(world, "it", "a")) == {
            Code.QUEUE_UNSERVED: "no live worker serves queue gpu of executor local"
        }

    def test_a_callback_that_nobody_runs(self, world: World) -> None:
        start(world, tasks=[TaskSpec(task_id="a", operator="X")])
        fail(world, world.claim()["a"], reason="boom")
        for task_id, queue, given_up in (
            ("'a'", "gpu", "null"), ("'a'", "default", "null"), ("'a'", "gpu", "'too often'"),
            ("null", "gpu", "null"),
        ):  # fmt: skip
            world.rows(
                "insert into callback (run_key, dag_id, task_id, kind, reason, executor, queue,"
                f" given_up) select run_key, dag_id, {task_id}, 'failure', 'x', 'local', '{queue}',"
                f" {given_up} from run returning 1"
            )
        unserved = "its failure callback waits: no live worker serves queue gpu of executor local"
        assert said(ask(world, "it", "a")) == {
            Code.FAILED: "try 1 of 1 failed: boom",
            Code.CALLBACK_UNSERVED: unserved,
            Code.CALLBACK_GIVEN_UP: "its failure callback was given up: too often",
        }
        assert said(ask(world))[Code.CALLBACK_UNSERVED] == unserved
        assert Code.CALLBACK_GIVEN_UP not in said(ask(world))
        shown = status.show(world.deployment)
        gpu = "callbacks wait for queue gpu (executor local), which no live worker serves"
        assert gpu in shown.problems
        assert "the last: flow why sales it a" in " ".join(shown.warnings)

    def test_for_a_worker_to_have_room(self, world: World) -> None:
        start(world, tasks=[TaskSpec(task_id=name, operator="X") for name in ("a", "b")])
        texts = said(ask(world, "it", "b"))
        assert texts[Code.QUEUED].endswith("for a worker of queue default; 1 tasks go first")
        assert texts[Code.WORKERS] == (
            "live workers of queue default: 1; 0 of their 16 slots are in use"
        )

    def test_for_somebody_to_release_it(self, world: World) -> None:
        start(world)
        world.rows("update task_hot set state = 'scheduled', held = true returning 1")
        assert list(said(ask(world, "it", "extract"))) == [Code.HELD]

    def test_for_its_upstream_and_for_somebody_to_release_it(self, world: World) -> None:
        start(world)
        holding.hold(world.deployment, "sales", Which("it"), "load")
        assert list(said(ask(world, "it", "load"))) == [Code.HELD, Code.UPSTREAM]

    def test_for_its_paused_run(self, world: World) -> None:
        start(world)
        world.rows("update task_hot set state = 'scheduled' returning 1")
        world.rows("update run set paused = true returning 1")
        assert list(said(ask(world, "it", "extract"))) == [Code.RUN_PAUSED]
        assert list(said(ask(world, "it"))) == [Code.RUN_PAUSED]

    def test_for_its_retry(self, world: World) -> None:
        start(world)
        claimed = world.claim()["extract"]
        ending = Ending(
            TaskState.UP_FOR_RETRY, TryState.FAILED, "exit code 3", delay=60.0, exit_code=3
        )
        with transaction(world.conn, "test"):
            tries.report(world.conn, [Report(claimed.key, ending)])
        texts = said(ask(world, "it", "extract"))
        assert texts[Code.RETRY_DUE].startswith("try 1 of 1 failed (exit code 3); the next one")
        assert texts[Code.EXIT_CODE] == "its process ended with exit code 3"

    def test_for_its_process_to_die(self, world: World) -> None:
        start(world)
        world.claim()
        clearing.clear(world.deployment, clearing.Wish("sales", Which("it")))
        answer = ask(world, "it", "extract")
        assert answer.verdict is Verdict.WAITS
        assert said(answer)[Code.RESTARTING].startswith("it was cleared and runs again once")

    def test_for_the_previous_run(self, world: World) -> None:
        task = TaskSpec(task_id="a", operator="X", depends_on_past=True)
        start(world, "first", tasks=[task])
        running.run(world.deployment, Wish("sales", run_id="second"))
        world.schedule()
        answer = ask(world, "second", "a")
        assert said(answer) == {
            Code.PAST_UNFINISHED: "the previous run has not got there: a of first is queued"
        }
        assert answer.reasons[0].refers_to == "sales/first/a"
        fail(world, world.claim()["a"])
        assert list(said(ask(world, "second", "a"))) == [Code.PAST_FAILED]
        (shown,) = ask(world, "second").tasks
        assert shown.reasons[0].code is Code.PAST_FAILED

    def test_when_nobody_schedules(self, world: World) -> None:
        start(world)
        world.rows("update process set ended_at = now(), ended_reason = 'x' returning 1")
        assert Code.NO_SCHEDULER in said(ask(world, "it", "load"))
        assert list(said(ask(world, "it"))) == [Code.NO_SCHEDULER]

    def test_that_nobody_schedules_is_said_once(self, world: World) -> None:
        world.define("sales")
        running.run(world.deployment, Wish("sales", run_id="it"))
        world.rows("update process set ended_at = now(), ended_reason = 'x' returning 1")
        codes = [reason.code for reason in ask(world, "it", "load").reasons]
        assert codes.count(Code.NO_SCHEDULER) == 1


class TestTaskThatRunsOrEnded:
    def test_it_runs(self, world: World) -> None:
        start(world)
        world.claim()
        answer = ask(world, "it", "extract")
        assert answer.verdict is Verdict.RUNS
        assert said(answer)[Code.RUNNING].startswith("try 1 of 1 has run since ")

    @pytest.mark.parametrize(
        ("reason", "facts", "codes"),
        [
            ("ValueError: x", {"exit_code": 0}, [Code.FAILED]),
            ("exit code 3", {"exit_code": 3}, [Code.FAILED, Code.EXIT_CODE]),
            ("the process was killed by SIGKILL", {"signal": 9}, [Code.FAILED, Code.SIGNAL]),
            ("still running after 5 s", {"code": Code.TIMEOUT}, [Code.TIMEOUT]),
            ("no heartbeat", {"code": Code.WORKER_LOST}, [Code.WORKER_LOST]),
            (
                "the process was killed",
                {"code": Code.OUT_OF_MEMORY, "signal": 9},
                [Code.OUT_OF_MEMORY, Code.SIGNAL],
            ),
            ("no such task", {"code": Code.CODE_MISSING}, [Code.CODE_MISSING]),
            ("x has code 1", {"code": Code.CODE_MISMATCH}, [Code.CODE_MISMATCH]),
            ("execution_timeout: as its own message has it", {}, [Code.FAILED]),
            ("marked by its own code", {}, [Code.FAILED]),
        ],
    )
    def test_it_failed(
        self, world: World, reason: str, facts: dict[str, Any], codes: list[Code]
    ) -> None:
        start(world)
        fail(world, world.claim()["extract"], reason=reason, **facts)
        answer = ask(world, "it", "extract")
        assert (answer.state, answer.verdict) == ("failed", Verdict.ENDED)
        assert list(said(answer)) == codes
        assert reason in answer.reasons[0].text()

    def test_the_first_cause_is_named(self, world: World) -> None:
        start(world)
        fail(world, world.claim()["extract"], reason="no source")
        answer = ask(world, "it", "report")
        assert [reason.text() for reason in answer.reasons] == [
            "trigger rule all_success: of 1 upstream tasks 1 upstream_failed",
            "report <- load <- extract: extract is failed: no source",
        ]
        assert answer.reasons[1].refers_to == "sales/it/extract"

    def test_the_first_cause_behind_a_fan_out_is_named_and_only_it(self, world: World) -> None:
        tasks = {
            "root": (),
            "left": ("root",),
            "right": ("root",),
            "middle": ("left", "right"),
            "one": ("middle",),
            "two": ("middle",),
            "three": ("middle",),
            "end": ("one", "three", "two"),
        }
        start(world, tasks=tasks)
        fail(world, world.claim()["root"], reason="no source")
        answer = ask(world, "it", "end")
        assert [reason.text() for reason in answer.reasons] == [
            "trigger rule all_success: of 3 upstream tasks 3 upstream_failed",
            "end <- one <- middle <- left <- root: root is failed: no source",
        ]

    def test_a_branch_skipped_it(self, world: World) -> None:
        start(world)
        claimed = world.claim()["extract"]
        ending = Ending(TaskState.SUCCESS, TryState.SUCCESS, skips=("load",))
        with transaction(world.conn, "test"):
            tries.report(world.conn, [Report(claimed.key, ending)])
        world.schedule()
        assert said(ask(world, "it", "load")) == {Code.SKIPPED_BY: "extract chose to skip it"}
        assert said(ask(world, "it", "report"))[Code.CAUSE] == (
            "report <- load: load is skipped: skipped by extract"
        )
        clearing.clear(world.deployment, clearing.Wish("sales", Which("it"), "extract"))
        assert said(ask(world, "it", "load")) == {
            Code.SKIPPED: "it was skipped: skipped by extract"
        }

    @pytest.mark.parametrize("text", ["cancelled by its code", "skipped by x", "trigger rule x"])
    def test_a_text_of_its_own_is_only_that(self, world: World, text: str) -> None:
        start(world)
        ending = Ending(TaskState.SKIPPED, TryState.SKIPPED, text)
        with transaction(world.conn, "test"):
            tries.report(world.conn, [Report(world.claim()["extract"].key, ending)])
        assert said(ask(world, "it", "extract")) == {Code.SKIPPED: f"it was skipped: {text}"}

    def test_somebody_said_so(self, world: World) -> None:
        start(world)
        marks.mark(world.deployment, "sales", Which("it"), "extract", TaskState.FAILED)
        (reason,) = ask(world, "it", "extract").reasons
        assert reason.code is Code.MARKED
        assert reason.text().startswith("marked by ")

    def test_it_succeeded(self, world: World) -> None:
        start(world)
        world.finish()
        assert said(ask(world, "it", "load")) == {Code.SUCCESS: "try 1 of 1 succeeded"}


class TestRun:
    def test_that_waits_for_room(self, world: World) -> None:
        start(world, "first", max_active_runs=1)
        for run_id in ("second", "third"):
            running.run(world.deployment, Wish("sales", run_id=run_id))
        world.schedule()
        answer = ask(world, "third")
        assert (answer.state, answer.verdict) == ("queued", Verdict.WAITS)
        found = said(answer)
        since = found.pop(Code.OLDEST_RUN).removeprefix("oldest running run: sales/first, since ")
        assert datetime.fromisoformat(since)
        assert found == {
            Code.ACTIVE_RUNS: "max_active_runs: 1 of 1 runs of the DAG are running",
            Code.RUNS_AHEAD: "queued runs of the DAG that start first: 1",
        }
        assert said(ask(world, "third", "extract")) == said(answer)

    def test_of_a_paused_dag(self, world: World) -> None:
        start(world, paused=True)
        assert list(said(ask(world))) == [Code.DAG_PAUSED]

    def test_that_runs_is_explained_by_what_holds_it_up(self, world: World) -> None:
        start(world)
        world.claim()
        answer = ask(world)
        assert (answer.verdict, answer.unfinished) == (Verdict.RUNS, 3)
        assert [(one.task_id, one.reasons[0].code) for one in answer.tasks] == [
            ("extract", Code.RUNNING)
        ]

    def test_that_failed_names_the_cause_once(self, world: World) -> None:
        tasks = {"a": (), "b": ("a",), "c": ("a",), "d": ()}
        start(world, tasks=tasks)
        claimed = world.claim()
        world.end(claimed["d"])
        fail(world, claimed["a"], reason="no source")
        answer = ask(world)
        assert [reason.text() for reason in answer.reasons] == [
            "its final tasks: 1 success, 2 upstream_failed",
            "b <- a: a is failed: no source",
        ]

    def test_that_was_cancelled(self, world: World) -> None:
        start(world)
        cancelling.cancel(world.deployment, "sales", Which("it"))
        reasons = said(ask(world))
        assert reasons[Code.CANCELLED].startswith("cancelled by ")
        assert list(said(ask(world, "it", "load"))) == [Code.CANCELLED]


class TestRunThatIsNotThere:
    def test_it_is_not_due(self, world: World) -> None:
        world.define("sales", schedule="@daily", catchup="none")
        assert list(said(ask(world, None))) == [Code.NOT_DUE]
        assert list(said(ask(world, "2999-01-01"))) == [Code.NOT_DUE]

    def test_the_dag_is_paused_or_gone_or_broken(self, world: World) -> None:
        world.define("sales", schedule="@daily", paused=True)
        assert Code.DAG_PAUSED in said(ask(world, None))
        world.rows("update dag set paused = false, present = false returning 1")
        world.rows("update dag_file set error = 'SyntaxError', error_since = now() returning 1")
        texts = said(ask(world, None))
        assert Code.DAG_GONE in texts
        assert texts[Code.IMPORT_ERROR].startswith("/dags/one.py cannot be imported since")

    def test_the_dag_was_paused_by_flow(self, world: World) -> None:
        world.define("sales", schedule="@daily", paused=True)
        world.rows("update dag set pause_reason = '3 runs failed in a row' returning 1")
        assert said(ask(world, None))[Code.PAUSE_REASON] == (
            "it was paused by Flow: 3 runs failed in a row"
        )

    def test_it_has_no_schedule(self, world: World) -> None:
        world.define("sales")
        assert list(said(ask(world, None))) == [Code.NO_SCHEDULE]

    def test_it_is_outside_of_the_schedule(self, world: World) -> None:
        from datetime import UTC, datetime

        world.define(
            "sales",
            schedule="@daily",
            start_date=datetime(2026, 7, 1, tzinfo=UTC),
            end_date=datetime(2026, 7, 3, tzinfo=UTC),
            catchup=True,
        )
        world.finish()
        assert list(said(ask(world, "2026-06-30"))) == [Code.BEFORE_START]
        assert list(said(ask(world, "2026-07-04"))) == [Code.AFTER_END]
        assert list(said(ask(world, "2026-07-02T06:00"))) == [Code.NO_INTERVAL]
        assert list(said(ask(world, None))) == [Code.AFTER_END]
        world.rows("delete from run where data_interval_start = '2026-07-02Z' returning 1")
        assert list(said(ask(world, "2026-07-02"))) == [Code.PASSED]

    def test_it_is_not_made_up_for(self, world: World) -> None:
        world.define("sales", schedule="@daily", catchup=False)
        assert list(said(ask(world, "2026-01-02"))) == [Code.NOT_CAUGHT_UP]
        assert list(said(ask(world, None))) == [Code.DUE]
        world.schedule()
        found = said(ask(world, "2026-01-02"))
        assert list(found) == [Code.PASSED, Code.NOT_CAUGHT_UP]
        assert found[Code.PASSED].startswith("the schedule has passed it")

    def test_the_past_waits_for_room(self, world: World) -> None:
        from datetime import UTC, datetime, timedelta

        world.define(
            "sales",
            schedule="@daily",
            start_date=datetime.now(UTC) - timedelta(days=10),
            catchup=True,
            max_active_runs=2,
        )
        world.schedule()
        assert Code.ACTIVE_RUNS in said(ask(world, None))
        yesterday = said(ask(world, "yesterday"))
        assert list(yesterday) == [Code.ACTIVE_RUNS, Code.OLDEST_RUN, Code.BEHIND]

    def test_something_else_is_not_found(self, world: World) -> None:
        start(world)
        with pytest.raises(NotFound):
            ask(world, "nope")
        with pytest.raises(NotFound):
            ask(world, "it", "nope")
        with pytest.raises(NotFound):
            ask(world, "2026-01-01", "load")


def test_looking_changes_nothing(world: World) -> None:
    start(world)
    before = world.rows("select * from task_hot")
    ask(world, "it", "extract")
    ask(world, "it")
    ask(world, None)
    assert world.rows("select * from task_hot") == before
    assert world.value("select count(*) from audit where verb <> 'run'") == 0
