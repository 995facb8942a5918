"""Marking how tasks ended, whatever they were doing."""

from __future__ import annotations

import os
import pwd

import pytest

from flow.decide import Ending
from flow.errors import Conflict, NotFound
from flow.graph import TaskSpec
from flow.ops import marks, running
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import TaskState, TryState
from flow.store import invariants, tries
from flow.store.connect import transaction
from flow.store.notify import STOP, Listener
from flow.store.tries import Claimed, Report
from operations_world import World
from waiting import wait_until

REASON = f"marked by {pwd.getpwuid(os.getuid()).pw_name}"


def start(world: World, **fields: object) -> str:
    world.define("sales", **fields)  # type: ignore[arg-type]
    run_id = running.run(world.deployment, Wish("sales")).found.run.run_id
    world.schedule()
    return run_id


def fail(world: World, claimed: Claimed) -> None:
    """Let a try fail, which is followed by another one in a minute."""
    ending = Ending(TaskState.UP_FOR_RETRY, TryState.FAILED, delay=60.0)
    with transaction(world.conn, "test"):
        tries.report(world.conn, [Report(claimed.key, ending)])
    world.schedule()


def ended(world: World) -> list[tuple[str, bool]]:
    """States of tasks, and whether a task ended just when its try did."""
    return world.rows(
        "select t.state, t.ended_at = y.ended_at from task t join try y using (run_key, task_id)"
    )


def test_a_running_task_is_taken_from_its_worker(world: World) -> None:
    run_id = start(world)
    claimed = world.claim()["extract"]
    listener = Listener(world.dsn, (STOP,))
    done = marks.mark(world.deployment, "sales", Which("latest"), "extract", TaskState.SUCCESS)
    assert [(one.task_id, one.before, one.state) for one in done.runs[0].marked] == [
        ("extract", "running", "success")
    ]
    assert wait_until(listener.drain, "the notification to workers") == {STOP}
    listener.close()
    assert world.rows("select state, claim, worker, reason from task_hot") == [
        ("success", claimed.claim + 1, None, REASON)
    ]
    assert world.rows("select state, reason, ended_at is not null from try_hot") == [
        ("success", REASON, True)
    ]
    assert world.end(claimed, TaskState.FAILED) == set()  # the fence: what the worker says is late
    assert invariants.breaches(world.conn) == []
    world.schedule()
    assert world.states(run_id) == {"extract": "success", "load": "queued"}


def test_a_task_without_a_row_gets_one(world: World) -> None:
    run_id = start(world)
    marks.mark(world.deployment, "sales", Which(run_id), "report", TaskState.SKIPPED)
    assert world.states(run_id) == {"extract": "queued", "report": "skipped"}
    world.finish()
    assert world.rows("select state from run") == [("success",)]
    assert invariants.breaches(world.conn) == []


def test_a_failed_mark_ends_the_run_as_failed(world: World) -> None:
    run_id = start(world)
    marks.mark(world.deployment, "sales", Which(run_id), "extract", TaskState.FAILED)
    world.schedule()
    assert world.states(run_id) == {
        "extract": "failed",
        "load": "upstream_failed",
        "report": "upstream_failed",
    }
    assert world.rows("select state from run") == [("failed",)]


def test_a_finished_run_is_judged_anew(world: World) -> None:
    run_id = start(world)
    world.finish({"report": TaskState.FAILED})
    assert world.rows("select state from run") == [("failed",)]
    planned = marks.mark(
        world.deployment, "sales", Which(run_id), "report", TaskState.SUCCESS, dry_run=True
    )
    assert planned.runs[0].after == "success"
    assert world.states(run_id)["report"] == "failed"
    done = marks.mark(world.deployment, "sales", Which(run_id), "report", TaskState.SUCCESS)
    assert done.runs[0].after == "success"
    assert world.rows("select state, reason from run") == [("success", REASON)]
    assert world.states(run_id)["report"] == "success"
    assert world.value("select count(*) from task_hot") == 0
    assert invariants.breaches(world.conn) == []


def test_what_waits_for_its_retry_ended_when_its_last_try_did(world: World) -> None:
    run_id = start(world)
    fail(world, world.claim()["extract"])
    assert world.states(run_id) == {"extract": "up_for_retry"}
    for state in (TaskState.SUCCESS, TaskState.FAILED):
        marks.mark(world.deployment, "sales", Which(run_id), "extract", state)
        assert ended(world) == [(state.value, True)]
    world.finish()
    marks.mark(world.deployment, "sales", Which(run_id), "extract", TaskState.SUCCESS)
    assert ended(world)[0] == ("success", True)


def test_what_is_queued_for_its_retry_ended_when_its_last_try_did(world: World) -> None:
    run_id = start(world)
    fail(world, world.claim()["extract"])
    for table in ("task_hot", "wakeup"):
        world.rows(f"update {table} set due_at = now() where due_at is not null returning 1")
    world.schedule()
    assert world.states(run_id) == {"extract": "queued"}
    marks.mark(world.deployment, "sales", Which(run_id), "extract", TaskState.SUCCESS)
    assert ended(world) == [("success", True)]


def test_what_was_not_run_because_of_it_is_named(world: World) -> None:
    run_id = start(world)
    world.finish({"extract": TaskState.FAILED})
    done = marks.mark(world.deployment, "sales", Which(run_id), "extract", TaskState.SUCCESS)
    assert done.runs[0].stays == ["load", "report"]
    assert done.runs[0].after == "failed"


def test_a_mark_frees_the_slot_of_its_pool(world: World) -> None:
    world.rows("insert into pool (name, slots) values ('small', 1) returning 1")
    tasks = [TaskSpec(task_id=name, operator="X", pool="small") for name in ("one", "two")]
    run_id = start(world, tasks=tasks)
    world.schedule()
    assert world.states(run_id) == {"one": "queued", "two": "scheduled"}
    world.claim()
    marks.mark(world.deployment, "sales", Which(run_id), "one", TaskState.FAILED)
    world.schedule()
    assert world.states(run_id) == {"one": "failed", "two": "queued"}


def test_marking_what_is_so_already_changes_nothing(world: World) -> None:
    run_id = start(world)
    world.finish()
    done = marks.mark(world.deployment, "sales", Which(run_id), "+load", TaskState.SUCCESS)
    assert (done.runs[0].marked, done.runs[0].unchanged) == ([], ["extract", "load"])
    assert world.rows("select verb from audit") == [("run",)]


def test_every_instance_is_audited(world: World) -> None:
    run_id = start(world)
    marks.mark(world.deployment, "sales", Which(run_id), "extract+", TaskState.SKIPPED)
    assert world.rows("select target, before, after from audit where verb = 'tasks.mark'") == [
        (f"sales/{run_id}/extract", {"state": "queued"}, {"state": "skipped"}),
        (f"sales/{run_id}/load", {"state": "none"}, {"state": "skipped"}),
        (f"sales/{run_id}/report", {"state": "none"}, {"state": "skipped"}),
    ]


def test_unknown_tasks_and_instances_are_named(world: World) -> None:
    run_id = start(world)
    with pytest.raises(NotFound) as caught:
        marks.mark(world.deployment, "sales", Which(run_id), "extrac", TaskState.SUCCESS)
    assert caught.value.hint == "did you mean extract?"
    with pytest.raises(NotFound, match=r"has no load\[3\]"):
        marks.mark(world.deployment, "sales", Which(run_id), "load[3]", TaskState.SUCCESS)


def test_an_archived_run_is_left_alone(world: World) -> None:
    run_id = start(world)
    world.finish()
    world.rows("update run set archived = true returning 1")
    with pytest.raises(Conflict, match="is archived"):
        marks.mark(world.deployment, "sales", Which(run_id), "load", TaskState.FAILED)


def test_a_mark_and_a_report_at_once_do_not_both_count(world: World) -> None:
    """Whichever is first holds the task's row; the other one finds another state or claim."""
    run_id = start(world)
    claimed = world.claim()["extract"]
    assert world.end(claimed) == {claimed.key}
    done = marks.mark(world.deployment, "sales", Which(run_id), "extract", TaskState.FAILED)
    assert [one.before for one in done.runs[0].marked] == ["success"]
    assert world.rows("select state, reason from try_hot") == [("success", None)]
    assert invariants.breaches(world.conn) == []
