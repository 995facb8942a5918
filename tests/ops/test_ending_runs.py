"""Cancelling runs and deleting them."""

from __future__ import annotations

import os
import pwd
from typing import Any

import pytest

from flow.decide import Ending
from flow.errors import Conflict, NotFound
from flow.graph import TaskSpec
from flow.ops import cancelling, clearing, deleting, running
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import RunState, TaskState, TryState
from flow.store import invariants, stopping, tries
from flow.store.connect import transaction
from flow.store.notify import STOP, Listener
from flow.store.tries import Report
from operations_world import World
from waiting import wait_until

REASON = f"cancelled by {pwd.getpwuid(os.getuid()).pw_name}"
LATEST = Which("latest")


def start(world: World, run_id: str = "it", **fields: Any) -> str:
    world.define("sales", **fields)
    running.run(world.deployment, Wish("sales", run_id=run_id))
    world.schedule()
    return run_id


def start_two(world: World) -> None:
    """A task that is claimed in the first of two runs and waits for that in the second."""
    start(world, "first", tasks=[TaskSpec(task_id="a", operator="X", depends_on_past=True)])
    running.run(world.deployment, Wish("sales", run_id="second"))
    world.schedule()
    assert world.states("second") == {}


def run_states(world: World) -> dict[str, str]:
    return dict(world.rows("select run_id, state from run"))


def sound(world: World) -> bool:
    return invariants.breaches(world.conn) == []


class TestCancel:
    def test_what_runs_is_stopped_and_the_rest_skipped(self, world: World) -> None:
        run_id = start(world, callbacks=("failure",))
        claimed = world.claim()["extract"]
        listener = Listener(world.dsn, (STOP,))
        planned = cancelling.cancel(world.deployment, "sales", LATEST, dry_run=True)
        assert run_states(world) == {run_id: "running"}
        done = cancelling.cancel(world.deployment, "sales", LATEST)
        assert done == planned
        (run,) = done.runs
        assert (run.before, run.after) == (RunState.RUNNING, RunState.FAILED)
        assert (run.stopped, run.skipped) == (["extract"], ["load", "report"])
        assert wait_until(listener.drain, "the notification to workers") == {STOP}
        listener.close()
        assert world.rows("select state, reason from run") == [("failed", REASON)]
        assert world.states(run_id) == dict.fromkeys(("extract", "load", "report"), "skipped")
        assert world.rows("select state, reason from try") == [("skipped", REASON)]
        assert world.value("select count(*) from callback") == 0
        assert world.end(claimed, TaskState.FAILED) == set()
        world.schedule()
        assert run_states(world) == {run_id: "failed"}
        assert world.value("select count(*) from callback") == 0
        assert sound(world)

    def test_what_has_ended_stays(self, world: World) -> None:
        run_id = start(world)
        world.end(world.claim()["extract"])
        world.schedule()
        (run,) = cancelling.cancel(world.deployment, "sales", LATEST).runs
        assert run.skipped == ["load", "report"]
        assert world.states(run_id)["extract"] == "success"
        assert sound(world)

    def test_what_waits_for_its_retry_ended_when_its_last_try_did(self, world: World) -> None:
        start(world)
        ending = Ending(TaskState.UP_FOR_RETRY, TryState.FAILED, delay=60.0)
        with transaction(world.conn, "test"):
            tries.report(world.conn, [Report(world.claim()["extract"].key, ending)])
        cancelling.cancel(world.deployment, "sales", LATEST)
        assert world.rows(
            "select t.state, t.ended_at = y.ended_at from task t join try y using (run_key)"
            " where t.task_id = 'extract'"
        ) == [("skipped", True)]

    def test_a_queued_run_makes_room_for_none_and_a_running_one_for_the_next(
        self, world: World
    ) -> None:
        start(world, "first", max_active_runs=1)
        for run_id in ("second", "third"):
            running.run(world.deployment, Wish("sales", run_id=run_id))
        world.schedule()
        assert run_states(world) == {"first": "running", "second": "queued", "third": "queued"}
        cancelling.cancel(world.deployment, "sales", Which("second"))
        world.schedule()
        assert run_states(world) == {"first": "running", "second": "failed", "third": "queued"}
        cancelling.cancel(world.deployment, "sales", Which("first"))
        world.schedule()
        assert run_states(world)["third"] == "running"
        assert sound(world)

    def test_its_slots_and_places_are_handed_out(self, world: World) -> None:
        world.rows("insert into pool (name, slots) values ('small', 1) returning 1")
        tasks = [TaskSpec(task_id="one", operator="X", pool="small")]
        start(world, "first", tasks=tasks, concurrency=1)
        running.run(world.deployment, Wish("sales", run_id="second"))
        world.define("other", tasks, file="/dags/other.py")
        running.run(world.deployment, Wish("other"))
        world.schedule()
        assert world.value("select count(*) from task_hot where state = 'queued'") == 1
        cancelling.cancel(world.deployment, "sales", Which("first"))
        world.schedule()
        assert world.value("select count(*) from task_hot where state = 'queued'") == 1
        cancelling.cancel(world.deployment, "sales", Which("second"))
        world.schedule()
        assert world.rows("select dag_id, state from task_hot") == [("other", "queued")]

    def test_the_run_that_waits_for_it_goes_on(self, world: World) -> None:
        start_two(world)
        cancelling.cancel(world.deployment, "sales", Which("first"))
        world.schedule()
        assert world.states("second") == {"a": "queued"}
        assert sound(world)

    def test_one_that_has_ended_is_a_conflict(self, world: World) -> None:
        start(world)
        world.finish()
        with pytest.raises(Conflict, match="has ended: success"):
            cancelling.cancel(world.deployment, "sales", LATEST)

    def test_a_range_in_which_nothing_is_active_is_left_alone(self, world: World) -> None:
        start(world)
        world.finish()
        done = cancelling.cancel(world.deployment, "sales", Which(None, "2020-01-01"))
        assert (done.looked_at, done.runs) == (1, [])

    def test_a_cancelled_run_is_cleared(self, world: World) -> None:
        run_id = start(world)
        claimed = world.claim()["extract"]
        cancelling.cancel(world.deployment, "sales", LATEST)
        done = clearing.clear(world.deployment, clearing.Wish("sales", LATEST))
        assert [one.after for one in done.runs[0].tasks] == ["restarting", "none", "none"]
        with transaction(world.conn, "test"):
            stopping.gone(world.conn, {claimed.key})
        world.finish()
        assert run_states(world) == {run_id: "success"}
        assert sound(world)

    def test_it_is_audited(self, world: World) -> None:
        start(world)
        cancelling.cancel(world.deployment, "sales", LATEST)
        assert world.rows("select target, before, after from audit where verb = 'runs.cancel'") == [
            (
                "sales/it",
                {"state": "running"},
                {"state": "failed", "tasks": ["extract", "load", "report"]},
            )
        ]


class TestDelete:
    def test_nothing_of_it_is_left(self, world: World) -> None:
        start(world, "kept")
        world.finish()
        start(world, "gone")
        world.schedule()
        world.end(world.claim()["extract"], value="1")
        world.schedule()
        cancelling.cancel(world.deployment, "sales", Which("gone"))
        done = deleting.delete(world.deployment, "sales", Which("gone"))
        assert [(one.run_id, one.state, one.tasks) for one in done.runs] == [("gone", "failed", 3)]
        assert run_states(world) == {"kept": "success"}
        for table in ("task", "try"):
            assert world.rows(f"select distinct run_key from {table}") == world.rows(
                "select run_key from run"
            )
        assert world.value("select count(*) from xcom") == 0
        world.schedule()
        assert run_states(world) == {"kept": "success"}
        assert sound(world)

    def test_the_run_that_waits_for_it_goes_on(self, world: World) -> None:
        start_two(world)
        world.end(world.claim()["a"], TaskState.FAILED)
        world.schedule()
        assert world.states("second") == {}
        deleting.delete(world.deployment, "sales", Which("first"))
        world.schedule()
        assert world.states("second") == {"a": "queued"}
        assert sound(world)

    def test_an_active_one_is_refused_with_the_way(self, world: World) -> None:
        start(world)
        with pytest.raises(Conflict, match="is running") as caught:
            deleting.delete(world.deployment, "sales", LATEST)
        assert caught.value.hint == "cancel it first: flow runs cancel sales it"

    def test_one_whose_process_is_being_stopped_is_refused(self, world: World) -> None:
        start(world)
        claimed = world.claim()["extract"]
        cancelling.cancel(world.deployment, "sales", LATEST)
        with pytest.raises(Conflict, match="process of 'extract' is still being stopped"):
            deleting.delete(world.deployment, "sales", LATEST)
        with transaction(world.conn, "test"):
            stopping.gone(world.conn, {claimed.key})
        assert len(deleting.delete(world.deployment, "sales", LATEST).runs) == 1

    def test_the_schedule_does_not_go_back(self, world: World) -> None:
        world.define("sales", schedule="@daily", catchup=False)
        world.finish()
        deleted = deleting.delete(world.deployment, "sales", LATEST)
        assert (len(deleted.runs), deleted.come_again) == (1, [])
        world.finish()
        assert run_states(world) == {}

    def test_what_runs_once_comes_again(self, world: World) -> None:
        world.define("sales", schedule="@once")
        world.finish()
        (run_id,) = run_states(world)
        assert deleting.delete(world.deployment, "sales", LATEST, dry_run=True).come_again == [
            "sales"
        ]
        assert list(run_states(world)) == [run_id]
        assert deleting.delete(world.deployment, "sales", LATEST).come_again == ["sales"]
        world.finish()
        assert list(run_states(world).values()) == ["success"]

    def test_a_range_and_only_what_was_shown(self, world: World) -> None:
        world.define("sales")
        for day in (1, 2, 3):
            running.run(world.deployment, Wish("sales", date=f"2026-07-0{day}"))
        world.finish()
        which = Which(None, "2026-07-01", "2026-07-02")
        shown = deleting.delete(world.deployment, "sales", which, dry_run=True)
        only = {("sales", shown.runs[0].run_id)}
        assert len(shown.runs) == 2
        assert len(deleting.delete(world.deployment, "sales", which, only).runs) == 1
        assert len(run_states(world)) == 2
        with pytest.raises(NotFound):
            deleting.delete(world.deployment, "sales", Which("2026-07-01"))

    def test_it_is_audited(self, world: World) -> None:
        start(world)
        world.finish()
        deleting.delete(world.deployment, "sales", LATEST)
        assert world.rows("select target, before from audit where verb = 'runs.delete'") == [
            ("sales/it", {"state": "success", "version": 1})
        ]
