"""Holding tasks and pausing runs: nothing more of them starts until somebody says so."""

from __future__ import annotations

import pytest

from flow.decide import Ending
from flow.errors import Conflict
from flow.graph import TaskSpec
from flow.ops import holding, marks, running, why
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import TaskState, TryState
from flow.store import invariants, tries
from flow.store.connect import transaction
from flow.store.tries import Report
from operations_world import World

LATEST = Which("latest")
PAIR = {"one": (), "two": ()}


def start(world: World, run_id: str = "it", **fields: object) -> str:
    world.define("sales", **fields)  # type: ignore[arg-type]
    running.run(world.deployment, Wish("sales", run_id=run_id))
    world.schedule()
    return run_id


def sound(world: World) -> bool:
    return invariants.breaches(world.conn) == []


class TestHold:
    def test_what_is_queued_waits_and_the_rest_goes_on(self, world: World) -> None:
        run_id = start(world, tasks=PAIR)
        done = holding.hold(world.deployment, "sales", LATEST, "one")
        assert [(task.task_id, task.running) for task in done.runs[0].tasks] == [("one", False)]
        world.schedule()
        assert world.states(run_id) == {"one": "scheduled", "two": "queued"}
        assert sound(world)
        world.end(world.claim()["two"])
        world.schedule()
        assert world.states(run_id) == {"one": "scheduled", "two": "success"}
        assert world.claim() == {}
        assert sound(world)

    def test_a_task_that_nobody_has_looked_at_yet_is_held_too(self, world: World) -> None:
        run_id = start(world)
        holding.hold(world.deployment, "sales", LATEST, "load")
        world.end(world.claim()["extract"])
        world.schedule()
        assert world.states(run_id) == {"extract": "success", "load": "scheduled"}
        reason, *_ = why.why(world.deployment, "sales", run_id, "load").reasons
        assert reason.code == "held"
        assert sound(world)
        holding.release(world.deployment, "sales", LATEST, "load")
        world.finish()
        assert world.rows("select state from run") == [("success",)]
        assert world.rows("select max(try_number), max(max_tries) from task") == [(1, 1)]

    def test_a_running_try_goes_on_and_its_retry_is_held(self, world: World) -> None:
        task = TaskSpec(task_id="one", operator="X", retries=1)
        run_id = start(world, tasks=[task])
        claimed = world.claim()["one"]
        done = holding.hold(world.deployment, "sales", LATEST, "one")
        assert done.runs[0].tasks[0].running
        ending = Ending(TaskState.UP_FOR_RETRY, TryState.FAILED, "exit code 3", delay=0.0)
        with transaction(world.conn, "test"):
            assert tries.report(world.conn, [Report(claimed.key, ending)]) == {claimed.key}
        world.schedule()
        assert world.states(run_id) == {"one": "scheduled"}
        holding.release(world.deployment, "sales", LATEST, "one")
        world.schedule()
        assert world.states(run_id) == {"one": "queued"}

    def test_it_takes_no_place_of_the_run_the_dag_or_the_pool(self, world: World) -> None:
        world.rows("insert into pool (name, slots) values ('small', 1) returning 1")
        pooled = [TaskSpec(task_id=name, operator="X", pool="small") for name in ("one", "two")]
        for number, fields in enumerate(
            (
                {"tasks": PAIR, "max_active_tasks": 1},
                {"tasks": PAIR, "concurrency": 1},
                {"tasks": pooled},
            )
        ):
            run_id = start(world, f"run{number}", **fields)
            states = world.states(run_id)
            (first,) = [name for name, state in states.items() if state == "queued"]
            (second,) = states.keys() - {first}
            holding.hold(world.deployment, "sales", Which(run_id), first)
            world.schedule()
            assert world.states(run_id) == {first: "scheduled", second: "queued"}
            assert sound(world)
            marks.mark(world.deployment, "sales", Which(run_id), second, TaskState.SUCCESS)
            world.schedule()
            assert world.states(run_id)[first] == "scheduled"
            holding.release(world.deployment, "sales", Which(run_id), first)
            world.schedule()
            assert world.states(run_id)[first] == "queued"
            world.finish()
            assert sound(world)

    def test_what_ended_is_left_alone_and_what_is_held_stays(self, world: World) -> None:
        start(world, tasks=PAIR)
        world.end(world.claim(1)["one"])
        holding.hold(world.deployment, "sales", LATEST, "two")
        done = holding.hold(world.deployment, "sales", LATEST, "*")
        assert (done.changes, done.runs[0].unchanged, done.runs[0].ended) == (0, ["two"], ["one"])
        verbs = world.rows("select verb, target, before, after from audit where verb <> 'run'")
        assert verbs == [("tasks.hold", "sales/it/two", {"held": False}, {"held": True})]

    def test_a_run_that_has_ended_is_a_conflict(self, world: World) -> None:
        start(world)
        world.finish()
        with pytest.raises(Conflict) as caught:
            holding.hold(world.deployment, "sales", LATEST, "load")
        assert caught.value.hint.endswith("flow clear sales it")

    def test_a_dry_run_changes_nothing(self, world: World) -> None:
        start(world, tasks=PAIR)
        before = world.rows("select * from task_hot order by task_id")
        planned = holding.hold(world.deployment, "sales", LATEST, "*", dry_run=True)
        assert world.rows("select * from task_hot order by task_id") == before
        assert planned == holding.hold(world.deployment, "sales", LATEST, "*")

    def test_a_large_run_holds_its_task_too(self, world: World) -> None:
        wide = {f"t{number:03}": () for number in range(100)}
        run_id = start(world, tasks=wide, max_active_tasks=10)
        holding.hold(world.deployment, "sales", LATEST, "t0*")
        world.schedule()
        while claimed := world.claim(1):
            for task_id, one in claimed.items():
                assert not task_id.startswith("t0")
                world.end(one)
            world.schedule()
        states = world.states(run_id)
        assert {state for task_id, state in states.items() if task_id < "t1"} == {"scheduled"}
        assert sound(world)


class TestPause:
    def test_nothing_more_of_the_run_starts(self, world: World) -> None:
        run_id = start(world, tasks={"one": (), "two": (), "three": ("one",)})
        claimed = world.claim(1)["one"]
        holding.pause(world.deployment, "sales", LATEST)
        world.schedule()
        assert world.states(run_id) == {"one": "running", "two": "scheduled"}
        assert world.end(claimed) == {claimed.key}
        world.schedule()
        assert world.states(run_id) == {"one": "success", "two": "scheduled", "three": "scheduled"}
        assert world.claim() == {}
        reason, *_ = why.why(world.deployment, "sales", run_id, "two").reasons
        assert reason.code == "run_paused"
        assert sound(world)
        holding.resume(world.deployment, "sales", LATEST)
        world.finish()
        assert world.rows("select state from run") == [("success",)]
        assert sound(world)

    def test_a_queued_run_is_passed_over(self, world: World) -> None:
        start(world, "first", max_active_runs=1)
        for run_id in ("second", "third"):
            running.run(world.deployment, Wish("sales", run_id=run_id))
        world.schedule()
        holding.pause(world.deployment, "sales", Which("second"))
        world.finish()
        assert dict(world.rows("select run_id, state from run")) == {
            "first": "success",
            "second": "queued",
            "third": "success",
        }
        assert sound(world)
        holding.resume(world.deployment, "sales", Which("second"))
        world.finish()
        assert set(world.rows("select state from run")) == {("success",)}

    def test_the_runs_that_fit_a_condition_of_several_dags(self, world: World) -> None:
        for dag_id in ("sales_eu", "sales_us", "other"):
            world.define(dag_id, file=f"/dags/{dag_id}.py")
            running.run(world.deployment, Wish(dag_id, run_id="it"))
        world.schedule()
        done = holding.pause(world.deployment, "sales_*", Which(where="state=running"))
        assert [(one.dag_id, one.run_id) for one in done.runs] == [
            ("sales_eu", "it"),
            ("sales_us", "it"),
        ]
        assert world.rows("select dag_id from run where not paused") == [("other",)]
        again = holding.pause(world.deployment, "sales_*", Which(where="state=running"))
        assert (again.runs, again.unchanged) == ([], ["it", "it"])
