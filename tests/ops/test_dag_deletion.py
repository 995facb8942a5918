"""Deleting DAGs: nothing of them is left, or they begin anew; and who is refused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from flow import faults
from flow.errors import Conflict, NotFound
from flow.graph import TaskSpec
from flow.ops import backfilling, backfills, cancelling, dag_deletion, dags, pausing, running
from flow.ops.dag_deletion import Deletion, delete, preview
from flow.ops.deployment import Change, Deployment
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import RunState, TaskState
from flow.store import dags as stored_dags
from flow.store import deleting, invariants, stopping
from flow.store.connect import Conn, connect, transaction
from operations_world import World
from waiting import wait_until

OF_DAGS = ("dag", "dag_version", "spec", "backfill", "backfill_interval", "run")
OF_RUNS = ("task", "try", "xcom", "event", "callback", "stopping")
DAILY: dict[str, Any] = {
    "schedule": "@daily",
    "start_date": datetime(2026, 7, 1, tzinfo=UTC),
    "catchup": "none",
}


def backfill(world: World) -> None:
    """Let three intervals of `sales` have runs."""
    backfilling.create(world.deployment, backfilling.Wish("sales", "2026-07-01", "2026-07-03"))


def vanish(world: World, *files: str) -> None:
    """Let DAG files be gone."""
    with transaction(world.conn, "test"):
        stored_dags.hide(world.conn, files or ["/dags/one.py"])


def run(world: World, run_id: str, dag_id: str = "sales") -> None:
    running.run(world.deployment, Wish(dag_id, run_id=run_id))


def kept(world: World) -> dict[str, int]:
    """How many rows there are of everything."""
    return {name: world.value(f"select count(*) from {name}") for name in (*OF_DAGS, *OF_RUNS)}


def sound(world: World) -> bool:
    return invariants.breaches(world.conn) == []


class TestOneThatIsGone:
    def test_nothing_of_it_is_left_and_all_of_others(self, world: World) -> None:
        world.define("stock", file="/dags/stock.py")
        run(world, "other", "stock")
        world.finish()
        before = kept(world)
        world.define("sales", **DAILY)
        backfill(world)
        world.finish({"load": TaskState.FAILED})
        world.define("sales", {"extract": ()}, **DAILY)
        run(world, "mine")
        world.schedule()
        world.end(world.claim()["extract"], value="1")
        world.schedule()
        vanish(world)
        shown = preview(world.deployment, "sales")
        assert (shown.runs, shown.versions, shown.backfills) == (
            {RunState.FAILED: 3, RunState.SUCCESS: 1},
            2,
            1,
        )
        assert shown.file == "/dags/one.py"
        assert delete(world.deployment, "sales", shown) == shown
        assert kept(world) == before
        world.schedule()
        assert kept(world) == before
        assert sound(world)
        with pytest.raises(NotFound):
            delete(world.deployment, "sales")

    def test_it_is_new_when_it_comes_back(self, world: World) -> None:
        world.define("sales")
        run(world, "mine")
        world.finish()
        vanish(world)
        assert [one.dag_id for one in dags.page(world.deployment).rows] == []
        gone = dags.page(world.deployment, dags.Filter(gone=True))
        assert [one.dag_id for one in gone.rows] == ["sales"]
        delete(world.deployment, "sales")
        world.define("sales", paused=True)
        assert world.rows("select paused, version, present from dag") == [(True, 1, True)]
        run(world, "mine")
        assert sound(world)

    def test_a_long_history_goes_in_several_transactions(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dag_deletion, "RUNS_AT_ONCE", 3)
        monkeypatch.setattr(dag_deletion, "TASKS_AT_ONCE", 4)
        world.define("sales", {"extract": (), "load": ()})
        for number in range(7):
            run(world, f"number_{number}")
        world.finish()
        vanish(world)
        told: list[int] = []
        done = delete(world.deployment, "sales", advance=told.append)
        assert done.runs == {RunState.SUCCESS: 7}
        assert told == [2, 4, 6, 7, 7]
        assert world.rows("select before, after from audit where verb = 'dags.delete'") == [
            *[({"runs": 2, "tasks": 4}, None)] * 3,
            ({"runs": 1, "tasks": 2}, None),
            (
                {"runs": 0, "tasks": 0, "file": "/dags/one.py", "versions": 1, "backfills": 0},
                None,
            ),
        ]
        assert world.value("select count(distinct xmin::text) from audit") == 7 + 5
        assert not any(kept(world).values())

    def test_what_comes_in_behind_the_last_look_goes_too(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dag_deletion, "RUNS_AT_ONCE", 1)
        world.define("sales", {"extract": ()})
        for day in (5, 6):
            running.run(world.deployment, Wish("sales", date=f"2026-07-0{day}"))
        world.finish()

        def meanwhile(gone: int) -> None:
            if gone == 2 and not world.rows("select from run"):
                world.define("sales", {"extract": ()})
                running.run(world.deployment, Wish("sales", date="2026-07-01"))
                world.finish()
                vanish(world)

        vanish(world)
        delete(world.deployment, "sales", advance=meanwhile)
        assert not any(kept(world).values())

    def test_a_history_that_fills_its_last_transaction_has_no_empty_entry(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dag_deletion, "RUNS_AT_ONCE", 2)
        world.define("sales", {"extract": ()})
        for number in range(4):
            run(world, f"number_{number}")
        world.finish()
        vanish(world)
        delete(world.deployment, "sales")
        entries = world.rows("select before from audit where verb = 'dags.delete'")
        assert [(entry["runs"], "file" in entry) for (entry,) in entries] == [
            (2, False),
            (2, False),
            (0, True),
        ]

    def test_its_history_is_counted_before_it_is_locked(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counted = deleting.kept
        read_only: list[str] = []

        def kept_of(conn: Conn, dag_id: str) -> deleting.Kept:
            read_only.extend(row[0] for row in conn.execute("show transaction_read_only"))
            return counted(conn, dag_id)

        world.define("sales")
        run(world, "mine")
        world.finish()
        vanish(world)
        shown = preview(world.deployment, "sales")
        monkeypatch.setattr(deleting, "kept", kept_of)
        delete(world.deployment, "sales", shown)
        assert read_only == ["on"]

    @pytest.mark.parametrize("again", [False, True])
    def test_it_is_refused_when_it_changes_between_the_count_and_the_lock(
        self, world: World, monkeypatch: pytest.MonkeyPatch, again: bool
    ) -> None:
        world.define("sales")
        run(world, "mine")
        world.finish()
        if not again:
            world.rows("update run set ended_at = ended_at - interval '1 day' returning 1")
        vanish(world)
        shown = preview(world.deployment, "sales")
        change = Deployment.change

        def late(deployment: Deployment, verb: str) -> AbstractContextManager[Change]:
            world.rows("update run set state = 'failed', ended_at = clock_timestamp() returning 1")
            return change(deployment, verb)

        monkeypatch.setattr(Deployment, "change", late)
        before = kept(world)
        with pytest.raises(Conflict, match="is not as it was shown any more"):
            delete(world.deployment, "sales", shown)
        assert kept(world) == before

    def test_it_is_refused_when_it_is_not_what_was_shown(self, world: World) -> None:
        world.define("sales")
        run(world, "mine")
        world.finish()
        vanish(world)
        shown = preview(world.deployment, "sales")
        world.rows("update run set state = 'failed' returning 1")
        before = kept(world)
        with pytest.raises(Conflict, match="is not as it was shown any more"):
            delete(world.deployment, "sales", shown)
        assert kept(world) == before


class TestRefused:
    def refused(self, world: World, **how: Any) -> Conflict:
        """What a look and the deed both say."""
        before = kept(world)
        with pytest.raises(Conflict) as looked:
            preview(world.deployment, "sales", **how)
        with pytest.raises(Conflict) as caught:
            delete(world.deployment, "sales", **how)
        assert str(looked.value) == str(caught.value)
        assert kept(world) == before
        assert world.rows("select from audit where verb = 'dags.delete'") == []
        return caught.value

    def test_as_long_as_a_file_defines_it(self, world: World) -> None:
        world.define("sales")
        error = self.refused(world)
        assert error.message == (
            "/dags/one.py defines DAG 'sales', so it is not deleted: it would come back"
        )
        assert error.hint == (
            "take it out of that file first; or flow dags pause sales; or delete its history "
            "alone: --begin-anew"
        )

    def test_when_it_comes_back_between_two_transactions(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dag_deletion, "RUNS_AT_ONCE", 1)
        world.define("sales")
        for run_id in ("one", "two", "three"):
            run(world, run_id)
        world.finish()
        vanish(world)
        with pytest.raises(Conflict, match="so it is not deleted"):
            delete(world.deployment, "sales", advance=lambda gone: world.define("sales"))
        assert world.value("select count(*) from run") == 2
        assert sound(world)

    def test_while_runs_have_not_ended(self, world: World) -> None:
        world.define("sales")
        run(world, "one")
        run(world, "two")
        world.schedule()
        vanish(world)
        error = self.refused(world)
        assert error.message == "2 runs of DAG 'sales' have not ended"
        assert error.hint == ("cancel first: flow runs cancel sales --where state=queued,running")
        cancelling.cancel(world.deployment, "sales", Which(where="state=queued,running"))
        delete(world.deployment, "sales")
        assert not any(kept(world).values())

    def test_while_a_backfill_has_not_ended(self, world: World) -> None:
        world.define("sales", **DAILY)
        backfill(world)
        vanish(world)
        error = self.refused(world)
        assert error.message == "backfill 1 of DAG 'sales' has not ended"
        assert error.hint == "cancel it first: flow backfills cancel 1"
        backfills.cancel(world.deployment, 1)
        delete(world.deployment, "sales")
        assert not any(kept(world).values())

    def test_while_a_process_is_being_stopped(self, world: World) -> None:
        world.define("sales", [TaskSpec(task_id="extract", operator="X")])
        run(world, "mine")
        world.schedule()
        claimed = world.claim()["extract"]
        cancelling.cancel(world.deployment, "sales", Which("latest"))
        vanish(world)
        error = self.refused(world)
        assert error.message == "the process of 'extract' is still being stopped"
        with transaction(world.conn, "test"):
            stopping.gone(world.conn, {claimed.key})
        delete(world.deployment, "sales")
        assert not any(kept(world).values())

    def test_beginning_anew_while_it_is_not_paused(self, world: World) -> None:
        world.define("sales")
        error = self.refused(world, begin_anew=True)
        assert error.hint == "pause it first: flow dags pause sales"

    def test_beginning_anew_when_it_is_gone(self, world: World) -> None:
        world.define("sales", paused=True)
        vanish(world)
        assert self.refused(world, begin_anew=True).hint == "leave out --begin-anew"


class TestOneThatBeginsAnew:
    def test_its_history_goes_and_its_schedule_begins_like_a_new_one(self, world: World) -> None:
        now: datetime = world.value("select clock_timestamp()")
        today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        first = today - timedelta(days=3)
        fields: dict[str, Any] = {"schedule": "@daily", "start_date": first, "catchup": True}
        world.define("sales", {"extract": ()}, **fields)
        world.finish()
        world.define("sales", {"extract": (), "load": ()}, **fields)
        pausing.pause(world.deployment, ["sales"])
        assert world.value("select cursor_at from dag") == today
        done = delete(world.deployment, "sales", begin_anew=True)
        assert (done.runs, done.versions, done.begins_anew) == ({RunState.SUCCESS: 3}, 1, True)
        assert kept(world) == {
            **dict.fromkeys((*OF_DAGS, *OF_RUNS), 0),
            "dag": 1,
            "dag_version": 1,
            "spec": 1,
        }
        assert world.rows("select paused, present, next_start from dag") == [(True, True, first)]
        assert world.rows("select before, after from audit where verb = 'dags.delete'") == [
            (
                {"runs": 3, "tasks": 3, "file": "/dags/one.py", "versions": 1, "backfills": 0},
                {"begins_anew": True},
            )
        ]
        pausing.unpause(world.deployment, ["sales"])
        world.finish()
        assert world.rows("select version, count(*) from run group by version") == [(2, 3)]
        assert world.value("select count(*) from task") == 6
        assert sound(world)


@pytest.fixture
def beside(world: World) -> Iterator[World]:
    """The same deployment for somebody else, who does something at the same time."""
    with connect(world.dsn, name="beside") as conn:
        yield World(world.dsn, conn, world.home, world.worker)


def wait_until_blocked(world: World) -> None:
    """Wait until a statement on this database waits for a lock."""
    with connect(world.dsn, name="looks") as conn:
        blocked = (
            "select true from pg_stat_activity"
            " where datname = current_database() and wait_event_type = 'Lock'"
        )
        wait_until(lambda: conn.execute(blocked).fetchone(), "a lock to wait for", pause=0.01)


@pytest.mark.parametrize("begin_anew", [False, True])
def test_a_run_that_is_being_made_is_seen(
    world: World, beside: World, monkeypatch: pytest.MonkeyPatch, *, begin_anew: bool
) -> None:
    """What would delete the DAG waits for it, and is then refused."""
    world.define("sales", {"extract": ()})
    pausing.pause(world.deployment, ["sales"])
    with ThreadPoolExecutor() as pool:
        waiting: list[Future[Deletion]] = []

        def point(name: str) -> None:
            if name == "ops.run.before_commit":
                if not begin_anew:
                    vanish(beside)
                waiting.append(
                    pool.submit(delete, beside.deployment, "sales", begin_anew=begin_anew)
                )
                wait_until_blocked(world)

        monkeypatch.setattr(faults, "point", point)
        running.run(world.deployment, Wish("sales"))
        with pytest.raises(Conflict, match="has not ended"):
            waiting[0].result()
    assert world.value("select count(*) from run") == 1
    assert sound(world)


def test_a_run_of_a_dag_that_is_being_deleted_is_refused(
    world: World, beside: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.define("sales", {"extract": ()})
    vanish(world)
    with ThreadPoolExecutor() as pool:
        waiting: list[Future[Any]] = []

        def point(name: str) -> None:
            if name == "ops.dags.delete.before_commit":
                waiting.append(pool.submit(running.run, beside.deployment, Wish("sales")))
                wait_until_blocked(world)

        monkeypatch.setattr(faults, "point", point)
        delete(world.deployment, "sales")
        with pytest.raises(NotFound, match="there is no DAG 'sales'"):
            waiting[0].result()
    assert not any(kept(world).values())
