"""Saying how runs ended."""

from __future__ import annotations

import os
import pwd

from flow.ops import run_marks, running
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import RunState, TaskState
from flow.store import invariants
from operations_world import World

REASON = f"marked by {pwd.getpwuid(os.getuid()).pw_name}"
LATEST = Which("latest")


def start(world: World, run_id: str = "it", **fields: object) -> str:
    world.define("sales", **fields)  # type: ignore[arg-type]
    running.run(world.deployment, Wish("sales", run_id=run_id))
    world.schedule()
    return run_id


def test_a_running_run_ends_as_failed(world: World) -> None:
    run_id = start(world, callbacks=("failure",))
    claimed = world.claim()["extract"]
    planned = run_marks.mark(world.deployment, "sales", LATEST, RunState.FAILED, dry_run=True)
    assert world.rows("select state from run") == [("running",)]
    done = run_marks.mark(world.deployment, "sales", LATEST, RunState.FAILED)
    assert done == planned
    assert world.rows("select state, reason from run") == [("failed", REASON)]
    assert world.states(run_id) == {"extract": "failed", "load": "skipped", "report": "skipped"}
    assert world.rows("select state, reason from try") == [("failed", REASON)]
    assert world.value("select count(*) from callback") == 0
    assert world.end(claimed) == set()
    assert invariants.breaches(world.conn) == []


def test_a_running_run_ends_as_success(world: World) -> None:
    run_id = start(world)
    world.claim()
    run_marks.mark(world.deployment, "sales", LATEST, RunState.SUCCESS)
    assert world.rows("select state, reason from run") == [("success", REASON)]
    assert set(world.states(run_id).values()) == {"success"}
    assert invariants.breaches(world.conn) == []


def test_a_failed_run_becomes_a_success_and_skipped_tasks_stay(world: World) -> None:
    run_id = start(world)
    world.finish({"extract": TaskState.SKIPPED})
    assert set(world.states(run_id).values()) == {"skipped"}
    second = start(world, "second")
    world.finish({"load": TaskState.FAILED})
    done = run_marks.mark(world.deployment, "sales", Which(where="dag=sales"), RunState.SUCCESS)
    assert done.unchanged == [run_id]
    (run,) = done.runs
    assert [(task.task_id, task.before) for task in run.tasks] == [
        ("load", "failed"),
        ("report", "upstream_failed"),
    ]
    assert set(world.states(run_id).values()) == {"skipped"}
    assert set(world.states(second).values()) == {"success"}
    assert set(world.rows("select state from run")) == {("success",)}
    assert invariants.breaches(world.conn) == []


def test_a_run_that_succeeded_becomes_a_failure_and_its_tasks_stay(world: World) -> None:
    run_id = start(world)
    world.finish()
    run_marks.mark(world.deployment, "sales", LATEST, RunState.FAILED)
    assert world.rows("select state, reason from run") == [("failed", REASON)]
    assert set(world.states(run_id).values()) == {"success"}
    assert world.rows("select target, before, after from audit where verb = 'runs.mark'") == [
        ("sales/it", {"state": "success", "tasks": {}}, {"state": "failed", "tasks": {}})
    ]


def test_its_room_is_used_by_the_next_run(world: World) -> None:
    start(world, "first", max_active_runs=1)
    running.run(world.deployment, Wish("sales", run_id="second"))
    world.schedule()
    run_marks.mark(world.deployment, "sales", Which("first"), RunState.FAILED)
    world.schedule()
    assert world.rows("select state from run where run_id = 'second'") == [("running",)]
