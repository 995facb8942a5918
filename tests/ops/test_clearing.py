"""Clearing: what is shown is what is done, tries only grow, and nothing starts twice."""

from __future__ import annotations

import os
import pwd
from collections.abc import Collection
from typing import Any

import pytest

from flow.decide import Ending, after_failure
from flow.errors import Conflict, NotFound, UsageError
from flow.graph import GroupSpec, TaskSpec
from flow.ops import clearing, deleting, holding, marks, run_marks, running
from flow.ops.clearing import Clearing
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.roles.losses import free
from flow.states import RunState, TaskState, TryState
from flow.store import invariants, stopping, tries
from flow.store.connect import transaction
from flow.store.notify import STOP, WAKE, Listener
from flow.store.tries import Report
from operations_world import CHAIN, World
from waiting import wait_until

USER = pwd.getpwuid(os.getuid()).pw_name
FAILED = {TaskState.FAILED, TaskState.UPSTREAM_FAILED}


def start(world: World, **fields: Any) -> str:
    world.define("sales", **fields)
    run_id = running.run(world.deployment, Wish("sales")).found.run.run_id
    world.schedule()
    return run_id


def clear(
    world: World,
    reference: str | None = "latest",
    tasks: str | None = None,
    *,
    states: Collection[TaskState] | None = None,
    confirmed: Clearing | None = None,
    **more: Any,
) -> Clearing:
    ends = {name: more.pop(name) for name in ("start", "end", "where") if name in more}
    dag = more.pop("dag", "sales")
    wish = clearing.Wish(dag, Which(reference, **ends), tasks, states=states, **more)
    return clearing.clear(world.deployment, wish, confirmed)


def changes(done: Clearing) -> list[dict[str, tuple[str, str]]]:
    return [
        {one.task_id: (one.before.value, one.after.value) for one in run.tasks} for run in done.runs
    ]


def sound(world: World) -> bool:
    return invariants.breaches(world.conn) == []


def fail_try(world: World) -> None:
    """Let the one queued task fail, as a worker would report it."""
    (one,) = world.claim().values()
    after = after_failure(one)
    ending = Ending(after.state, TryState.FAILED, delay=after.delay)
    with transaction(world.conn, "test"):
        tries.report(world.conn, [Report(one.key, ending)])
    world.schedule()


def pass_time(world: World) -> None:
    """Let what waits be due."""
    world.rows("update task_hot set due_at = now() where due_at is not null returning 1")
    world.rows("update wakeup set due_at = now() returning 1")
    world.schedule()


class TestFinishedRun:
    def test_it_goes_back_to_the_queue_and_runs_again(self, world: World) -> None:
        run_id = start(world)
        world.finish({"load": TaskState.FAILED})
        assert world.value("select state from run") == "failed"
        done = clear(world, tasks="load+")
        assert changes(done) == [
            {"load": ("failed", "none"), "report": ("upstream_failed", "none")}
        ]
        assert (done.runs[0].before, done.runs[0].after) == ("failed", "queued")
        assert world.rows("select state, reason, started_at, ended_at from run") == [
            ("queued", None, None, None)
        ]
        assert world.value("select count(*) from task_history") == 0
        assert sound(world)
        world.finish()
        assert world.states(run_id) == dict.fromkeys(CHAIN, "success")
        assert world.value("select state from run") == "success"
        tries = "select task_id, array_agg(try_number order by try_number) from try group by 1"
        assert dict(world.rows(tries)) == {"extract": [1], "load": [1, 2], "report": [1]}
        assert sound(world)

    def test_what_is_downstream_and_not_cleared_is_named(self, world: World) -> None:
        start(world)
        world.finish({"extract": TaskState.FAILED})
        done = clear(world, tasks="extract")
        assert done.runs[0].stays == ["load", "report"]
        world.finish()
        assert world.value("select state from run") == "failed"

    def test_only_those_in_a_state(self, world: World) -> None:
        start(world)
        world.finish({"load": TaskState.FAILED})
        done = clear(world, states=FAILED)
        assert set(changes(done)[0]) == {"load", "report"}

    def test_upstream_and_downstream(self, world: World) -> None:
        start(world)
        world.finish()
        assert set(changes(clear(world, tasks="load", upstream=True))[0]) == {"extract", "load"}
        world.finish()
        assert set(changes(clear(world, tasks="load", downstream=True))[0]) == {"load", "report"}

    def test_nothing_to_clear_changes_nothing(self, world: World) -> None:
        start(world)
        world.finish()
        before = world.rows("select count(*) from audit")
        assert clear(world, states=FAILED).runs == []
        assert world.value("select state from run") == "success"
        assert world.rows("select count(*) from audit") == before

    def test_a_clear_is_audited_per_run(self, world: World) -> None:
        run_id = start(world)
        world.finish()
        clear(world, tasks="report")
        assert world.rows("select target, before, after from audit where verb = 'clear'") == [
            (
                f"sales/{run_id}",
                {"state": "success", "version": 1, "tasks": {"report": "success"}},
                {"state": "queued", "version": 1, "tasks": {"report": "none"}},
            )
        ]

    def test_an_archived_run_is_refused_with_what_can_be_done(self, world: World) -> None:
        run_id = start(world)
        world.finish()
        world.rows("update run set archived = true returning 1")
        with pytest.raises(Conflict, match="is archived") as caught:
            clear(world)
        assert caught.value.hint == (
            f"make it anew: flow runs delete sales {run_id}, then flow run sales "
            "(with --date for the run of an interval)"
        )
        deleting.delete(world.deployment, "sales", Which(run_id))
        assert world.value("select count(*) from run") == 0

    def test_a_dag_that_is_gone_is_refused(self, world: World) -> None:
        start(world)
        world.finish()
        world.rows("update dag set present = false returning 1")
        with pytest.raises(Conflict, match="not in its file any more"):
            clear(world)


class TestTries:
    def test_a_full_new_set_after_all_were_used(self, world: World) -> None:
        task = TaskSpec(task_id="bad", operator="X", retries=2, retry_delay=1.0)
        start(world, tasks=[task])
        for first in (True, False):
            for _ in range(3):
                pass_time(world)
                fail_try(world)
            if first:
                assert world.value("select state from run") == "failed"
                clear(world)
        assert world.value("select state from run") == "failed"
        assert world.rows("select try_number, state from try order by 1") == [
            (number, "failed") for number in range(1, 7)
        ]
        assert world.rows("select try_number, max_tries from task") == [(6, 6)]
        assert sound(world)

    def test_one_that_waits_for_its_retry_starts_one_more(self, world: World) -> None:
        start(world, tasks=[TaskSpec(task_id="bad", operator="X", retries=2, retry_delay=600.0)])
        fail_try(world)
        assert changes(clear(world)) == [{"bad": ("up_for_retry", "none")}]
        world.schedule()
        again = world.claim()["bad"]
        assert (again.try_number, again.max_tries) == (2, 4)
        assert sound(world)

    @pytest.mark.parametrize("waiting", ["deferred", "up_for_reschedule"])
    def test_an_open_try_of_a_waiting_task_is_closed(self, world: World, waiting: str) -> None:
        start(world, tasks=[TaskSpec(task_id="sensor", operator="X")])
        before = world.claim()["sensor"]
        world.rows(
            "update task_hot set state = %s, worker = null, due_at = now() + interval '1 h'"
            " returning 1",
            waiting,
        )
        world.rows("update try_hot set state = %s returning 1", waiting)
        assert changes(clear(world)) == [{"sensor": (waiting, "none")}]
        assert world.rows("select state, reason, ended_at is not null from try") == [
            ("restarted", f"cleared by {USER}", True)
        ]
        world.schedule()
        again = world.claim()["sensor"]
        assert again.try_number == 2
        assert again.claim > before.claim + 1
        assert sound(world)

    def test_one_that_keeps_its_slot_while_it_waits_gives_it_up(self, world: World) -> None:
        world.rows("insert into pool (name, slots) values ('small', 1) returning 1")
        tasks = [TaskSpec(task_id=name, operator="X", pool="small") for name in ("one", "two")]
        run_id = start(world, tasks=tasks)
        world.claim()
        world.rows(
            "update task_hot set state = 'deferred', worker = null, keeps_slot = true, held = true,"
            " due_at = now() + interval '1 h' where task_id = 'one' returning 1"
        )
        world.rows("update try_hot set state = 'deferred' returning 1")
        world.schedule()
        assert world.states(run_id) == {"one": "deferred", "two": "scheduled"}
        clear(world, tasks="one")
        world.schedule()
        assert world.states(run_id) == {"one": "scheduled", "two": "queued"}
        assert sound(world)

    @pytest.mark.parametrize("state", ["scheduled", "queued"])
    def test_one_that_is_held_stays_so(self, world: World, state: str) -> None:
        if state == "scheduled":
            world.rows("update process set ended_at = now(), ended_reason = 'gone' returning 1")
        run_id = start(world)
        assert world.states(run_id) == {"extract": state}
        holding.hold(world.deployment, "sales", Which(run_id), "extract")
        (run,) = clear(world, tasks="extract").runs
        assert [(one.before, one.after, one.held) for one in run.tasks] == [
            ("scheduled", "none", True)
        ]
        if state == "scheduled":
            world.start_worker()
        world.schedule()
        assert world.claim() == {}
        holding.release(world.deployment, "sales", Which(run_id), "extract")
        world.schedule()
        assert world.claim()["extract"].try_number == 1
        assert sound(world)

    def test_a_number_that_never_started_is_given_again(self, world: World) -> None:
        start(world)
        assert world.rows("select state, try_number from task_hot") == [("queued", 1)]
        clear(world)
        assert world.rows("select state, try_number from task_hot") == [("none", 0)]
        world.schedule()
        assert world.claim()["extract"].try_number == 1
        assert sound(world)

    def test_so_is_that_of_one_that_was_marked_before_it_started(self, world: World) -> None:
        run_id = start(world)
        marks.mark(world.deployment, "sales", Which(run_id), "extract", TaskState.SKIPPED)
        clear(world, tasks="extract")
        world.schedule()
        assert world.claim()["extract"].try_number == 1
        assert sound(world)


class TestRunning:
    def test_it_waits_until_its_process_is_dead(self, world: World) -> None:
        start(world)
        claimed = world.claim()["extract"]
        listener = Listener(world.dsn, (STOP,))
        assert changes(clear(world)) == [{"extract": ("running", "restarting")}]
        assert wait_until(listener.drain, "the notification to workers") == {STOP}
        listener.close()
        world.schedule()
        assert world.value("select state from task_hot") == "restarting"
        assert world.claim() == {}
        assert sound(world)
        assert clear(world).runs == []  # twice quickly
        # Whatever the process came to, it is dead: that alone counts.
        assert world.end(claimed, TaskState.FAILED) == set()
        assert world.rows("select state, reason from try") == [("restarted", f"cleared by {USER}")]
        world.schedule()
        again = world.claim()["extract"]
        assert (again.try_number, again.max_tries) == (2, 2)
        assert world.value("select count(*) from callback") == 0
        assert sound(world)

    def test_its_lost_worker_frees_it_without_an_alarm(self, world: World) -> None:
        start(world, tasks=[TaskSpec(task_id="one", operator="X", callbacks=("failure",))])
        world.claim()
        world.rows("update task_hot set losses = 3 returning 1")
        clear(world)
        with transaction(world.conn, "test"):
            free(world.conn, world.worker, "gone")
        assert world.rows("select state from task_hot") == [("none",)]
        assert world.value("select count(*) from callback") == 0
        world.schedule()
        assert world.claim()["one"].try_number == 2
        assert sound(world)

    def test_a_marked_one_waits_for_the_process_it_had(self, world: World) -> None:
        """A mark takes the task from its worker at once; the process may live for its grace."""
        start(world, tasks=[TaskSpec(task_id="one", operator="X")])
        claimed = world.claim()["one"]
        marks.mark(world.deployment, "sales", Which("latest"), "one", TaskState.FAILED)
        world.schedule()
        assert world.value("select state from run") == "failed"
        assert changes(clear(world)) == [{"one": ("failed", "restarting")}]
        world.schedule()
        assert world.claim() == {}
        assert sound(world)
        with transaction(world.conn, "test"):
            assert stopping.gone(world.conn, {claimed.key})
        assert sound(world)
        world.schedule()
        assert world.claim()["one"].try_number == 2

    def test_a_marked_one_of_a_dead_worker_waits_for_nobody(self, world: World) -> None:
        start(world, tasks=[TaskSpec(task_id="one", operator="X")])
        world.claim()
        marks.mark(world.deployment, "sales", Which("latest"), "one", TaskState.FAILED)
        world.schedule()
        world.rows("update process set ended_at = now(), ended_reason = 'lost' returning 1")
        assert changes(clear(world)) == [{"one": ("failed", "none")}]

    def test_a_freed_slot_is_handed_out(self, world: World) -> None:
        world.rows("insert into pool (name, slots) values ('small', 1) returning 1")
        tasks = [TaskSpec(task_id=name, operator="X", pool="small") for name in ("one", "two")]
        run_id = start(world, tasks=tasks)
        assert world.states(run_id) == {"one": "queued", "two": "scheduled"}
        world.rows("update task_hot set held = true where task_id = 'one' returning 1")
        clear(world, tasks="one")
        world.schedule()
        assert world.states(run_id) == {"one": "scheduled", "two": "queued"}


class TestRange:
    def dated(self, world: World, days: int, **fields: Any) -> list[str]:
        world.define("sales", schedule="@daily", catchup="none", **fields)
        ids = []
        for day in range(1, days + 1):
            wish = Wish("sales", date=f"2026-07-{day:02}")
            ids.append(running.run(world.deployment, wish).found.run.run_id)
        return ids

    def test_both_ends_are_included_and_they_start_oldest_first(self, world: World) -> None:
        ids = self.dated(world, 5, max_active_runs=1)
        world.finish()
        done = clear(world, None, start="2026-07-02", end="2026-07-04")
        assert [run.run_id for run in done.runs] == ids[1:4]
        order = []
        world.schedule()
        while claimed := world.claim():
            states = dict(world.rows("select run_id, state from run"))
            active = [run_id for run_id in ids if states[run_id] == "running"]
            assert len(active) == 1
            order += active
            for one in claimed.values():
                world.end(one)
            world.schedule()
        assert list(dict.fromkeys(order)) == ids[1:4]
        assert set(dict(world.rows("select run_id, state from run")).values()) == {"success"}
        assert sound(world)

    def test_which_runs_has_to_be_said(self, world: World) -> None:
        self.dated(world, 1)
        with pytest.raises(UsageError, match="not said which runs"):
            clear(world, None)
        with pytest.raises(UsageError, match="a run and a range"):
            clear(world, "latest", start="2026-07-01")
        with pytest.raises(NotFound, match="no run whose interval"):
            clear(world, None, start="2025-01-01", end="2025-02-01")

    def test_what_was_confirmed_is_done_or_nothing(self, world: World) -> None:
        self.dated(world, 2)
        world.finish()
        wish = clearing.Wish("sales", Which(None, "2026-07-01"), states={TaskState.SUCCESS})
        shown = clearing.preview(world.deployment, wish)
        assert shown.changes == 6
        marks.mark(world.deployment, "sales", Which("2026-07-02"), "load", TaskState.FAILED)
        with pytest.raises(Conflict, match="not what was shown"):
            clearing.clear(world.deployment, wish, shown)
        assert world.value("select count(*) from task_hot") == 0
        shown = clearing.preview(world.deployment, wish)
        assert clearing.clear(world.deployment, wish, shown).runs == shown.runs

    def test_a_dag_that_is_paused_keeps_them_queued(self, world: World) -> None:
        self.dated(world, 1)
        world.finish()
        world.rows("update dag set paused = true returning 1")
        assert [dag.paused for dag in clear(world).dags] == [True]
        world.schedule()
        assert world.value("select state from run") == "queued"


class TestVersions:
    def renew(self, world: World, **fields: Any) -> None:
        tasks = (
            TaskSpec(task_id="check", operator="BashOperator", upstream=("extract",)),
            TaskSpec(task_id="extract", operator="BashOperator", retries=4, pool="wide"),
            TaskSpec(task_id="report", operator="BashOperator", upstream=("check",)),
        )
        world.rows(
            "insert into pool (name, slots) values ('wide', -1) on conflict do nothing returning 1"
        )
        world.define("sales", tasks, **fields)

    def test_the_latest_unless_told_otherwise(self, world: World) -> None:
        run_id = start(world)
        world.finish({"load": TaskState.FAILED})
        self.renew(world)
        done = clear(world)
        (run,) = done.runs
        assert (run.version_before, run.version) == (1, 2)
        assert set(changes(done)[0]) == {"extract", "report"}
        assert run.added == ["check"]
        assert world.value("select version from run") == 2
        world.schedule()
        claimed = world.claim()["extract"]
        assert (claimed.try_number, claimed.max_tries) == (2, 6)
        assert world.value("select pool from task_hot where task_id = 'extract'") == "wide"
        world.end(claimed)
        world.finish()
        # What the new version does not have stays as it was, and does not count any more.
        assert world.states(run_id) == {
            "check": "success", "extract": "success", "load": "failed", "report": "success",
        }  # fmt: skip
        assert world.value("select state from run") == "success"
        assert sound(world)

    def test_the_runs_own(self, world: World) -> None:
        run_id = start(world)
        world.finish({"load": TaskState.FAILED})
        self.renew(world)
        done = clear(world, version="run")
        assert done.runs[0].version == 1
        world.finish()
        assert world.states(run_id) == dict.fromkeys(CHAIN, "success")

    def test_unfinished_tasks_that_vanished_are_stopped_and_skipped(self, world: World) -> None:
        run_id = start(world)
        world.end(world.claim()["extract"])
        world.schedule()
        load = world.claim()["load"]
        self.renew(world)
        done = clear(world)
        assert [(one.task_id, one.before, one.after) for one in done.runs[0].dropped] == [
            ("load", "running", "skipped")
        ]
        assert world.states(run_id) == {"extract": "none", "load": "skipped"}
        assert world.end(load) == set()
        world.finish()
        assert world.states(run_id) == {
            "check": "success", "extract": "success", "load": "skipped", "report": "success",
        }  # fmt: skip
        assert sound(world)

    def test_the_plan_says_what_the_new_version_makes_of_the_run(self, world: World) -> None:
        start(world)
        world.finish({"load": TaskState.FAILED})
        self.renew(world)
        wish = clearing.Wish("sales", Which("latest"), "report")
        (run,) = clearing.preview(world.deployment, wish).runs
        assert (run.vanished, run.added, run.dropped) == (["load"], ["check"], [])
        assert [(one.task_id, one.fields) for one in run.changed] == [("report", ["upstream"])]
        (run,) = clearing.preview(world.deployment, wish._replace(tasks=None)).runs
        assert {one.task_id: set(one.fields) for one in run.changed} == {
            "extract": {"retries", "pool"}, "report": {"upstream"},
        }  # fmt: skip
        (run,) = clearing.preview(world.deployment, wish._replace(version="run")).runs
        assert (run.vanished, run.added, run.changed) == ([], [], [])

    def test_only_what_vanished_fits(self, world: World) -> None:
        """Nothing is cleared, and it is said which tasks the latest version does not have."""
        start(world)
        world.finish({"load": TaskState.FAILED})
        self.renew(world)
        done = clear(world, states={TaskState.FAILED})
        assert (done.runs, done.vanished, done.codeless) == ([], ["load"], ["load"])
        assert world.value("select state from run") == "failed"
        done = clear(world, states={TaskState.FAILED}, version="run")
        assert (changes(done), done.vanished) == ([{"load": ("failed", "none")}], [])

    @pytest.mark.parametrize("code", ["latest", "pinned", None])
    def test_a_task_that_only_the_old_version_has(self, world: World, code: str | None) -> None:
        start(world, code=code)
        world.finish()
        self.renew(world)
        with pytest.raises(NotFound, match="in its latest version, 2") as caught:
            clear(world, tasks="load")
        does = "version 1, which the run has, does"
        assert caught.value.hint == (
            f"{does}: --version run clears it there"
            if code == "pinned"
            else f"{does}, but its code is gone from the file: it stays as it ended"
        )
        assert set(changes(clear(world, tasks="load", version="run"))[0]) == {"load"}

    @pytest.mark.parametrize("code", ["latest", "pinned", None])
    def test_tasks_whose_code_is_gone_are_named(self, world: World, code: str | None) -> None:
        """With latest code what the file has not any more; pinned all, where the file is another.

        A DAG that says neither does as `dags.code` says, which is latest by default.
        """
        start(world, code=code)
        world.finish()
        self.renew(world)
        keeps = clearing.Wish("sales", Which("latest"), "load,report", version="run")
        (run,) = clearing.preview(world.deployment, keeps).runs
        gone = [] if code == "pinned" else [("load", "code_missing")]
        assert run.codeless == gone
        self.renew(world, code_hash="07e4" * 16)
        (run,) = clearing.preview(world.deployment, keeps).runs
        other = [("load", "code_mismatch"), ("report", "code_mismatch")]
        assert run.codeless == (other if code == "pinned" else gone)
        latest = keeps._replace(tasks="report", version="latest")
        (run,) = clearing.preview(world.deployment, latest).runs
        assert run.codeless == []

    def test_what_was_agreed_to_is_not_done_once_the_code_has_gone(self, world: World) -> None:
        start(world, code="pinned")
        world.finish()
        keeps = clearing.Wish("sales", Which("latest"), "load", version="run")
        shown = clearing.preview(world.deployment, keeps)
        self.renew(world, code_hash="07e4" * 16)
        with pytest.raises(Conflict, match="is not what was shown any more"):
            clear(world, tasks="load", version="run", confirmed=shown)
        assert world.value("select state from run") == "success"

    def test_a_ready_task_waits_where_the_new_version_says(self, world: World) -> None:
        world.rows("insert into pool (name, slots) values ('old', 1), ('new', 1) returning 1")

        def tasks(pool: str) -> list[TaskSpec]:
            return [TaskSpec(task_id=name, operator="X", pool=pool) for name in ("a", "b", "c")]

        run_id = start(world, tasks=tasks("old"))
        world.claim()
        assert world.states(run_id) == {"a": "running", "b": "scheduled", "c": "scheduled"}
        world.define("sales", tasks("new"))
        clear(world, tasks="a")
        assert dict(world.rows("select task_id, pool from task_hot")) == {
            "a": "old", "b": "new", "c": "new",
        }  # fmt: skip
        world.schedule()
        assert world.states(run_id) == {"a": "restarting", "b": "queued", "c": "scheduled"}
        assert sound(world)


class TestSeveralDags:
    @pytest.fixture
    def three(self, world: World) -> World:
        """DAGs sales_ch and sales_de with a run that failed in `load` each, and `other`."""
        for dag_id in ("sales_ch", "sales_de", "other"):
            world.define(dag_id, file=f"/dags/{dag_id}.py")
            running.run(world.deployment, Wish(dag_id, run_id="it"))
            world.finish({"load": TaskState.FAILED})
        return world

    def test_all_that_a_glob_names_in_one_transaction(self, three: World) -> None:
        wish = clearing.Wish("sales_*", Which("latest"), states=FAILED)
        shown = clearing.preview(three.deployment, wish)
        done = clearing.clear(three.deployment, wish, shown)
        assert done.runs == shown.runs
        assert [(run.dag_id, run.run_id) for run in done.runs] == [
            ("sales_ch", "it"), ("sales_de", "it"),
        ]  # fmt: skip
        entries = three.rows(
            "select target, xmin::text from audit where verb = 'clear' order by target"
        )
        assert [target for target, _ in entries] == ["sales_ch/it", "sales_de/it"]
        assert len({transaction for _, transaction in entries}) == 1
        assert three.value("select state from run where dag_id = 'other'") == "failed"
        three.finish()
        assert three.rows("select dag_id from run where state = 'success' order by 1") == [
            ("sales_ch",), ("sales_de",),
        ]  # fmt: skip
        assert sound(three)

    def test_a_glob_names_those_that_are_in_their_files(self, three: World) -> None:
        three.rows("update dag set present = false where dag_id = 'sales_de' returning 1")
        assert [run.dag_id for run in clear(three, dag="sales_*").runs] == ["sales_ch"]
        with pytest.raises(Conflict, match="'sales_de' is not in its file any more"):
            clear(three, dag="sales_de")
        with pytest.raises(NotFound, match="no DAG fits"):
            clear(three, dag="nope_*")

    def test_where_it_has_the_task(self, three: World) -> None:
        three.define("sales_de", {"count": ()}, file="/dags/sales_de.py")
        done = clear(three, dag="sales_*", tasks="load")
        assert [run.dag_id for run in done.runs] == ["sales_ch"]
        with pytest.raises(NotFound, match="has no task 'nope'"):
            clear(three, dag="sales_*", tasks="nope")

    def test_a_second_look_at_one_of_them(self, three: World) -> None:
        wish = clearing.Wish("sales_*", Which("latest"), states=FAILED)
        shown = clearing.preview(three.deployment, wish)
        marks.mark(three.deployment, "sales_de", Which("it"), "load", TaskState.SUCCESS)
        with pytest.raises(Conflict, match="not what was shown"):
            clearing.clear(three.deployment, wish, shown)
        assert three.value("select count(*) from task_hot") == 0

    def test_one_of_them_goes_after_the_look(self, three: World) -> None:
        wish = clearing.Wish("sales_*", Which("latest"), states=FAILED)
        shown = clearing.preview(three.deployment, wish)
        three.rows("update dag set present = false where dag_id = 'sales_de' returning 1")
        with pytest.raises(Conflict, match="not what was shown"):
            clearing.clear(three.deployment, wish, shown)
        assert three.value("select count(*) from task_hot") == 0


class TestConditions:
    @pytest.fixture
    def sales(self, world: World) -> World:
        """Three days of DAG sales, the second one failed in `load`; `report` has a pool."""
        world.rows("insert into pool (name, slots) values ('wide', -1) returning 1")
        tasks = [
            TaskSpec(task_id="extract", operator="BashOperator", retries=1, retry_delay=0.0),
            TaskSpec(task_id="load", operator="PythonOperator", upstream=("extract",)),
            TaskSpec(task_id="report", operator="BashOperator", upstream=("load",), pool="wide"),
        ]
        world.define("sales", tasks, schedule="@daily", catchup="none")
        for day in (1, 2, 3):
            running.run(world.deployment, Wish("sales", date=f"2026-07-0{day}"))
            world.finish({"load": TaskState.FAILED} if day == 2 else {})
        return world

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ("state=failed", {2: "extract load report"}),
            ("run.state=failed", {2: "extract load report"}),
            ("task.state=failed", {2: "load"}),
            ("task.state=failed,upstream_failed", {2: "load report"}),
            ("state=success and operator=PythonOperator", {1: "load", 3: "load"}),
            ("pool=wide", {1: "report", 2: "report", 3: "report"}),
            ("max_tries>=2", {1: "extract", 2: "extract", 3: "extract"}),
            ("try_number<1", {2: "report"}),
            ("task=load and logical_date>=2026-07-03", {3: "load"}),
            ("(state=success or task=load) and task_id!~r*",
             {1: "extract load", 2: "load", 3: "extract load"}),
            ("state=failed or pool=wide", {1: "report", 2: "extract load report", 3: "report"}),
            ("dag~sal* and not task.state=success", {2: "load report"}),
        ],
    )  # fmt: skip
    def test_on_runs_and_on_tasks(self, sales: World, where: str, expected: dict[int, str]) -> None:
        wish = clearing.Wish("sales", Which(where=where))
        shown = clearing.preview(sales.deployment, wish)
        assert {
            int(run.run_id.removeprefix("manual__2026-07-")[:2]): " ".join(
                one.task_id for one in run.tasks
            )
            for run in shown.runs
        } == expected
        done = clearing.clear(sales.deployment, wish, shown)
        assert done.runs == shown.runs
        assert sound(sales)

    def test_of_one_run(self, sales: World) -> None:
        done = clear(sales, "2026-07-01", where="operator=BashOperator")
        assert [set(run) for run in changes(done)] == [{"extract", "report"}]
        assert clear(sales, "2026-07-02", where="state=success").runs == []

    def test_a_field_that_is_not_there(self, sales: World) -> None:
        with pytest.raises(UsageError, match="no field 'oprator'") as caught:
            clear(sales, None, where="oprator=BashOperator")
        assert "did you mean operator" in caught.value.hint

    def test_it_holds_for_the_runs_as_they_are_when_they_are_cleared(self, sales: World) -> None:
        wish = clearing.Wish("sales", Which(where="state=failed"), "extract")
        shown = clearing.preview(sales.deployment, wish)
        assert shown.changes == 1
        run_marks.mark(sales.deployment, "sales", Which("2026-07-02"), RunState.SUCCESS)
        with pytest.raises(Conflict, match="not what was shown"):
            clearing.clear(sales.deployment, wish, shown)


class TestInstances:
    def test_an_index_of_a_task_that_is_not_mapped(self, world: World) -> None:
        run_id = start(world)
        world.finish()
        with pytest.raises(NotFound) as caught:
            clear(world, tasks="load[3],extract")
        assert caught.value.message == f"run {run_id!r} has no load[3]"
        assert caught.value.hint == "load is not mapped, so it is named without an index"
        assert world.value("select state from run") == "success"

    def test_an_index_that_some_of_the_runs_have(self, world: World) -> None:
        """Rows as a mapped task has them."""
        start(world)
        world.finish()
        world.rows("update task_history set map_path = '{0}' where task_id = 'report' returning 1")
        running.run(world.deployment, Wish("sales"))
        world.finish()
        (run,) = clear(world, None, "report[0]", start="2026-01-01").runs
        assert [(one.task_id, one.map_index) for one in run.tasks] == [("report", [0])]
        with pytest.raises(NotFound, match=r"2 runs have no report\[1\]"):
            clear(world, None, "report[1]", start="2026-01-01")

    def test_a_group(self, world: World) -> None:
        tasks = [
            TaskSpec(task_id="g.a", operator="X", group="g"),
            TaskSpec(task_id="g.h.b", operator="X", group="g.h", upstream=("g.a",)),
            TaskSpec(task_id="join", operator="X", upstream=("g.h.b",)),
        ]
        groups = (GroupSpec(group_id="g"), GroupSpec(group_id="g.h", parent="g"))
        start(world, tasks=tasks, groups=groups)
        world.finish()
        assert set(changes(clear(world, tasks="g"))[0]) == {"g.a", "g.h.b"}
        world.finish()
        assert set(changes(clear(world, tasks="g.h+"))[0]) == {"g.h.b", "join"}


def test_the_statements_do_not_depend_on_the_number_of_runs(
    world: World, statements: list[Any]
) -> None:
    world.define("sales", schedule="@daily", catchup="none")
    for day in range(1, 13):
        running.run(world.deployment, Wish("sales", date=f"2026-07-{day:02}"))
    world.finish()
    costs = []
    for start_, end, expected in (("2026-07-01", "2026-07-02", 2), ("2026-07-03", None, 10)):
        statements.clear()
        done = clear(world, None, start=start_, end=end, where="task.state=success")
        costs.append(len(statements))
        assert len(done.runs) == expected
    assert costs[0] == costs[1]


def test_a_paused_run_is_named(world: World) -> None:
    run_id = start(world)
    holding.pause(world.deployment, "sales", Which(run_id))
    assert [run.paused for run in clear(world).runs] == [True]


def test_schedulers_are_told(world: World) -> None:
    start(world)
    world.finish()
    listener = Listener(world.dsn, (WAKE,))
    clear(world)
    assert wait_until(listener.drain, "the notification to schedulers") == {WAKE}
    listener.close()
