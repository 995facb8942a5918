"""One worker with a real zygote and a real database, driven turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flow.process.pin import Pin
from flow.roles.work import jobs, slots
from flow.roles.work import worker as worker_module
from flow.roles.work.held import HeldTry, try_job
from flow.roles.work.worker import Worker
from flow.states import TaskState
from flow.store import callbacks, tries
from flow.store.callbacks import NewCallback
from flow.store.connect import transaction
from roles.work.by_turns import registered, turn
from store.hand_driven import World, spec, task
from waiting import wait_until


@pytest.fixture
def worker(world: World, tmp_path: Path) -> Iterator[Worker]:
    with registered(world, tmp_path) as made:
        yield made


def claim_without_hearing(world: World, worker: Worker) -> tries.Claimed:
    """Claim a task in the worker's name, as when the answer to its commit is lost."""
    assert worker.process_id is not None
    with transaction(world.conn, "test"):
        [claimed] = tries.claim(
            world.conn, worker=worker.process_id, host="h", executor="local", queues=["default"],
            limit=1,
        )  # fmt: skip
    return claimed


def test_a_claim_whose_answer_was_lost_is_freed_at_the_next_heartbeat(
    world: World, worker: Worker
) -> None:
    world.add(spec("d", task("a", retries=0)))
    scheduler = world.scheduler()
    scheduler.run_once()
    lost = claim_without_hearing(world, worker)
    worker.beat(world.conn)
    scheduler.run_once()
    [again] = world.claim()
    assert (again.try_number, again.max_tries) == (lost.try_number + 1, lost.max_tries + 1)
    states = world.conn.execute("select state from try order by try_number").fetchall()
    assert states == [("lost",), ("running",)]
    world.check()


def test_a_callback_whose_claim_was_not_heard_of_is_free_again(
    world: World, worker: Worker
) -> None:
    world.add(spec("d", task("a")))
    world.scheduler().run_once()
    row = world.conn.execute("select run_key from run").fetchone()
    assert row is not None
    assert worker.process_id is not None
    asked = NewCallback(row[0], "d", "failure", "it failed", "local", "default")
    who = {"worker": worker.process_id, "executor": "local", "queues": ["default"], "limit": 1}
    with transaction(world.conn, "test"):
        callbacks.add(world.conn, [asked])
        assert len(callbacks.claim(world.conn, **who)) == 1  # type: ignore[arg-type]
    worker.beat(world.conn)
    with transaction(world.conn, "test"):
        assert len(callbacks.claim(world.conn, **who)) == 1  # type: ignore[arg-type]


def test_tasks_and_callbacks_share_the_slots_and_neither_waits_for_ever(
    world: World, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One slot, and more of both than it can hold."""
    started: list[object] = []
    monkeypatch.setattr(jobs.Jobs, "start", lambda self, one: started.append("task"))
    monkeypatch.setattr(jobs.Jobs, "start_callback", lambda self, one: started.append("callback"))
    world.add(spec("d", task("a"), task("b"), task("c"), task("e")))
    world.scheduler().run_once()
    row = world.conn.execute("select run_key from run").fetchone()
    assert row is not None
    asked = NewCallback(row[0], "d", "failure", "it failed", "local", "default")
    with transaction(world.conn, "test"):
        callbacks.add(world.conn, [asked] * 2)
    monkeypatch.setattr(worker_module, "CALLBACK_PAUSE", 3600.0)
    for _ in range(3):
        worker.backlog = True
        worker.tend(world.conn)
    assert started == ["callback", "task", "task"], "one at a time, first of all a callback"
    worker._callbacks_at = 0.0
    worker.tend(world.conn)
    worker.tend(world.conn)
    assert started[3:] == ["callback", "task"], "it has waited long enough"


def test_a_claim_whose_answer_was_lost_is_freed_by_a_worker_that_ends_before_its_next_heartbeat(
    world: World, worker: Worker
) -> None:
    world.add(spec("d", task("a", retries=0)))
    scheduler = world.scheduler()
    scheduler.run_once()
    claim_without_hearing(world, worker)
    worker.start_drain(world.conn)
    assert worker.idle
    worker.retire(world.conn)
    world.check()
    assert world.states("d") == {"a": "scheduled"}
    assert world.settle(scheduler) == 1
    assert world.runs("d") == ["success"]


def test_a_reason_that_no_column_can_hold_is_stored_escaped(world: World) -> None:
    world.add(spec("d", task("a")))
    world.worker()
    world.scheduler().run_once()
    [claimed] = world.claim()
    assert world.report(claimed, TaskState.FAILED, reason="\0 and \ud800")
    [(reason,)] = world.conn.execute("select reason from try").fetchall()
    assert reason == r"\x00 and \ud800"


TWO = """
from flow import DAG, task

with DAG("d", schedule="@daily"):
    for name in ("a", "b"):
        task(task_id=name)(lambda: None)()
"""


@pytest.fixture
def most_slots() -> int | None:
    """For a worker that has one slot and no more."""
    return None


@pytest.fixture
def lingering(
    world: World, tmp_path: Path, most_slots: int | None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Worker]:
    """A worker with one slot and two queued tasks; a process that has finished stands still.

    It looks at its host whenever it beats, and finds that all of it is used.
    """
    monkeypatch.setattr(slots, "PAUSE", 0.0)
    monkeypatch.setattr(slots, "look", lambda: slots.Host(idle_cpu=0.0, free_memory=0.0))
    monkeypatch.setenv("FLOW_FAULTS", "child.finished.after_send=stop")
    world.add(spec("d", task("a"), task("b")))
    file = tmp_path / "two.py"
    file.write_text(TWO)
    world.conn.execute("update dag set file = %s", (str(file),))
    with registered(world, tmp_path, most_slots=most_slots) as made:
        world.scheduler().run_once()
        yield made


def test_a_success_is_stored_at_once_and_its_process_holds_the_slot_until_it_is_dead(
    world: World, lingering: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "EXIT_PATIENCE", 3600.0)
    wait_until(lambda: "success" in turn(world, lingering), "the first end")
    for _ in range(3):
        assert turn(world, lingering) == ["success", "queued"]
    assert not lingering.has_room
    assert not lingering.running
    world.check()


@pytest.mark.parametrize("most_slots", [2])
def test_a_host_with_room_to_spare_gives_another_slot_at_a_heartbeat(
    world: World, lingering: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "EXIT_PATIENCE", 3600.0)
    wait_until(lambda: turn(world, lingering) == ["success", "queued"], "the first end")
    assert lingering.describe().startswith("working: 1 of 1 slots (1 to 2) in use")
    monkeypatch.setattr(slots, "look", lambda: slots.Host(idle_cpu=1.0, free_memory=1.0))
    lingering.look_for_stale()
    wait_until(lambda: turn(world, lingering) == ["success"] * 2, "the end in the second slot")
    assert world.conn.execute("select slots from process where role = 'work'").fetchall() == [(2,)]
    assert lingering.describe().startswith("working: 2 of 2 slots (1 to 2) in use")
    world.check()


def test_a_process_that_does_not_leave_as_it_said_is_killed(
    world: World, lingering: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "EXIT_PATIENCE", 0.0)
    wait_until(lambda: turn(world, lingering) == ["success"] * 2, "both ends")
    wait_until(lambda: turn(world, lingering) and lingering.has_room, "the second death")
    world.check()


class TestPinnedCode:
    """What a claim says of it, and how long a try may take that waits for it."""

    @staticmethod
    def claim(world: World, code: str | None, *, pins: bool) -> tries.Claimed:
        world.worker()
        world.add(spec("d", task("a")))
        world.conn.execute(
            'update dag_version set code = %s, modules = \'{"m": "lib/m.py"}\'', (code,)
        )
        world.scheduler().run_once()
        with transaction(world.conn, "test"):
            [claimed] = tries.claim(
                world.conn, worker=world.worker(), host="h", executor="local", queues=["default"],
                limit=1, pins=pins,
            )  # fmt: skip
        return claimed

    @pytest.mark.parametrize(
        ("code", "pins", "pinned"),
        [
            (None, False, False),
            (None, True, True),
            ("latest", True, False),
            ("pinned", False, True),
        ],
    )
    def test_the_dag_decides_and_then_the_setting(
        self, world: World, code: str | None, pins: bool, pinned: bool
    ) -> None:
        claimed = self.claim(world, code, pins=pins)
        told = ("c", {"m": "lib/m.py"}) if pinned else (None, None)
        assert (claimed.code_hash, claimed.modules) == told

    def test_the_job_names_the_modules_on_this_host(self, world: World, worker: Worker) -> None:
        claimed = self.claim(world, "pinned", pins=False)
        settings = replace(worker.settings, folders=(Path("/dags"),), code_wait=7.0)
        pin = Pin(code_hash="c", modules={"m": "/dags/lib/m.py"}, wait=7.0)
        assert try_job(claimed, settings).pin == pin
        elsewhere = claimed._replace(file="/elsewhere/x.py")
        found = try_job(elsewhere, settings).pin
        assert found is not None
        assert found.modules == {"m": "/elsewhere/lib/m.py"}

    def test_its_wait_is_no_part_of_the_execution(self, world: World) -> None:
        claimed = self.claim(world, "pinned", pins=False)._replace(execution_timeout=10.0)
        held = HeldTry(claimed, "log")
        held.started(1, now=100.0, code_wait=60.0)
        assert held.deadline == 170.0
        held.found_code(now=130.0)
        assert held.deadline == 140.0
        held.found_code(now=150.0)
        assert held.deadline == 140.0  # said again, by its own code
        latest = HeldTry(claimed._replace(code_hash=None), "log")
        latest.started(1, now=100.0, code_wait=60.0)
        assert latest.deadline == 110.0
