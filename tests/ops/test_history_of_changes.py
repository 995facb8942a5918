"""Who did what, and what happened."""

from __future__ import annotations

import os
import pwd
from itertools import islice

import pytest

from flow.errors import NotFound
from flow.ops import (
    audit,
    cancelling,
    clearing,
    events,
    marks,
    paging,
    pausing,
    pools,
    run_marks,
    running,
)
from flow.ops.events import Asked
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import RunState, TaskState
from flow.store import connect
from operations_world import World

ME = pwd.getpwuid(os.getuid()).pw_name


def start(world: World, dag_id: str = "sales", run_id: str = "it") -> None:
    world.define(dag_id, file=f"/dags/{dag_id}.py")
    running.run(world.deployment, Wish(dag_id, run_id=run_id))
    world.schedule()


class TestAudit:
    def test_entries_say_who_changed_what_newest_first(self, world: World) -> None:
        start(world)
        pausing.pause(world.deployment, ["sales"])
        first, second = audit.page(world.deployment).rows
        assert (first.verb, first.target, first.before, first.after) == (
            "dags.pause", "sales", {"paused": False}, {"paused": True}
        )  # fmt: skip
        assert (second.verb, second.target) == ("run", "sales/it")
        assert {first.os_user, second.os_user} == {ME}
        assert first.db_role == world.value("select session_user")

    def test_those_of_a_dag_are_not_those_of_its_namesakes(self, world: World) -> None:
        for dag_id in ("sales", "sales_eu", "sales-2"):
            start(world, dag_id)
        pools.set_(world.deployment, "sales", 3)
        targets = [one.target for one in audit.page(world.deployment, audit.Asked("sales")).rows]
        assert targets == ["sales/it"]
        with pytest.raises(NotFound):
            audit.page(world.deployment, audit.Asked("nope"))

    def test_by_whom_and_since_when(self, world: World) -> None:
        start(world)
        start(world, "other")
        world.rows("update audit set os_user = 'anna', at = at - interval '2 days'"
                   " where target = 'other/it' returning 1")  # fmt: skip
        page = audit.page(world.deployment, audit.Asked(who="anna"))
        assert [one.target for one in page.rows] == ["other/it"]
        assert [o.target for o in audit.page(world.deployment, audit.Asked(since="-1d")).rows] == [
            "sales/it"
        ]
        assert len(audit.page(world.deployment, limit=1).rows) == 1
        assert audit.page(world.deployment, limit=1).total.counted == 2

    def test_all_are_read_a_page_at_a_time(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(paging, "PAGE", 2)
        for dag_id in ("sales", "other", "third"):
            start(world, dag_id)
        pausing.pause(world.deployment, ["sales"])
        for asked in (audit.ALL, audit.Asked("sales")):
            rows = audit.page(world.deployment, asked).rows
            assert len(rows) >= 2
            assert list(audit.every(world.deployment, asked)) == rows


class TestEvents:
    def test_a_run_is_told_from_its_beginning_to_its_end(self, world: World) -> None:
        start(world)
        world.finish({"load": TaskState.FAILED})
        told = events.recent(world.deployment, Asked("sales", "it"))
        assert {one.kind for one in told[:2]} == {"run", "run_queued"}
        assert [(one.kind, one.task_id, one.state) for one in told[2:]] == [
            ("run_started", None, "running"),
            ("try_started", "extract", "running"),
            ("try_ended", "extract", "success"),
            ("try_started", "load", "running"),
            ("try_ended", "load", "failed"),
            ("run_ended", None, "failed"),
        ]
        assert [one.at for one in told] == sorted(one.at for one in told)

    def test_what_a_run_did_before_it_was_cleared_belongs_to_it(self, world: World) -> None:
        start(world)
        world.finish({"load": TaskState.FAILED})
        clearing.clear(world.deployment, clearing.Wish("sales", Which("it"), "load"))
        world.rows("update run set queued_at = now() + interval '1 s' returning 1")
        told = events.recent(world.deployment, Asked("sales", "it"))
        ended = [one.task_id for one in told if one.kind == "try_ended"]
        assert ended == ["extract", "load"]

    @pytest.mark.parametrize("by", ["task", "run"])
    def test_a_run_that_was_marked_later_ended_as_it_did(self, world: World, by: str) -> None:
        start(world)
        world.finish({"report": TaskState.FAILED})
        for state in (TaskState.SUCCESS, TaskState.FAILED):
            if by == "task":
                marks.mark(world.deployment, "sales", Which("it"), "report", state)
            else:
                verdict = RunState(state.value)
                run_marks.mark(world.deployment, "sales", Which("it"), verdict)
        start(world, run_id="it2")  # its marks are its own
        run_marks.mark(world.deployment, "sales", Which("it2"), RunState.SUCCESS)
        for asked in (Asked("sales"), Asked()):
            told = events.recent(world.deployment, asked)
            of_runs = [
                (one.run_id, one.kind, one.state, one.detail)
                for one in told
                if one.kind == "run_ended" or one.kind.endswith(".mark")
            ]
            detail = {"task": ("run: success", "run: failed"), "run": ("sales/it", "sales/it")}[by]
            assert of_runs == [
                ("it", "run_ended", "failed", None),
                ("it", f"{by}s.mark", "success", detail[0]),
                ("it", f"{by}s.mark", "failed", detail[1]),
                *of_runs[3:],
            ]
            assert sorted(of_runs[3:]) == [
                ("it2", "run_ended", "success", f"marked by {ME}"),
                ("it2", "runs.mark", "success", "sales/it2"),
            ]

    def test_of_one_moment_the_cause_comes_first(self, world: World) -> None:
        start(world)
        world.finish()
        world.rows("update run set started_at = queued_at, ended_at = queued_at returning 1")
        told = events.recent(world.deployment, Asked("sales", "it"))
        kinds = [one.kind for one in told if one.kind.startswith("run_")]
        assert kinds == ["run_queued", "run_started", "run_ended"]

    def test_of_everything_in_a_time(self, world: World) -> None:
        start(world)
        start(world, "other")
        cancelling.cancel(world.deployment, "other", Which("it"))
        kinds = {(one.kind, one.dag_id) for one in events.recent(world.deployment, Asked())}
        expected = {("run_ended", "other"), ("runs.cancel", "other"), ("process_started", None)}
        assert expected <= kinds
        assert ("run_ended", "sales") not in kinds
        only = events.recent(world.deployment, Asked("sales"))
        assert {one.dag_id for one in only} == {"sales"}
        world.rows("update run set queued_at = queued_at - interval '2 hours' returning 1")
        assert not any(one.kind == "run_queued" for one in events.recent(world.deployment, Asked()))
        assert len(events.recent(world.deployment, Asked(limit=2))) == 2

    def test_all_are_read_a_few_at_a_time(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connect, "FETCHED", 2)
        for dag_id in ("sales", "other"):
            start(world, dag_id)
        cancelling.cancel(world.deployment, "other", Which("it"))
        told = events.recent(world.deployment, Asked())
        assert len(told) > 4
        assert list(events.every(world.deployment, Asked())) == told
        assert list(events.every(world.deployment, Asked("sales", "it"))) == (
            events.recent(world.deployment, Asked("sales", "it"))
        )

    def test_what_is_committed_late_is_told_once(self, world: World) -> None:
        start(world)
        told = events.follow(world.deployment, Asked("sales", limit=1))
        assert next(told).kind in ("run_started", "run")
        claimed = world.claim()["extract"]
        world.rows("update try_hot set started_at = started_at - interval '20 s' returning 1")
        (late,) = islice(told, 1)
        assert (late.kind, late.task_id) == ("try_started", "extract")
        world.end(claimed)
        world.schedule()
        assert next(told).kind == "try_ended"
