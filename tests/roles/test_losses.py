"""What takes its workers down ends: tries by failing, callbacks by being given up."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator

import pytest

from flow.decide import Ending, lost
from flow.process.ending import StopCause, ending
from flow.process.events import JobEnded
from flow.process.messages import Outcome
from flow.roles.losses import free
from flow.states import MAX_LOSSES
from flow.store import callbacks, processes, tries
from flow.store.callbacks import NewCallback
from flow.store.connect import Conn, transaction
from flow.store.tries import Claimed, Report
from store.hand_driven import World, spec, task

MISMATCH = Outcome(state="failed", reason="code_mismatch: x", ended=0.0, mismatch=True)


def judged(claimed: Claimed, ended: JobEnded, cause: StopCause | None = None) -> Ending:
    found = ending(claimed, ended, cause)
    assert found is not None
    return found


LOSSES = {
    "lost": lambda one: lost(one, "worker 1 died"),
    "lease_expired": lambda one: judged(one, JobEnded(1, None, killed="lease")),
    "drained": lambda one: judged(one, JobEnded(1, None, killed="stop"), StopCause.DRAIN),
    "code_mismatch": lambda one: judged(one, JobEnded(1, MISMATCH)),
    "with its zygote": lambda one: judged(one, JobEnded(1, None, killed="zygote")),
}


@pytest.fixture
def world(database: str, connection: Conn) -> Iterator[World]:
    made = World(database, connection)
    yield made
    made.close()


@pytest.mark.parametrize("last", LOSSES)
def test_the_fourth_loss_in_a_row_is_a_failure_whatever_came_before(
    world: World, last: str
) -> None:
    world.add(spec("d", task("a", retries=1, retry_delay=0.0)))
    world.worker()
    scheduler = world.scheduler()
    kinds = itertools.cycle(kind for kind in LOSSES if kind != last)

    def lose(kind: str) -> None:
        scheduler.run_once()
        [claimed] = world.claim()
        with transaction(world.conn, "test"):
            assert tries.report(world.conn, [Report(claimed.key, LOSSES[kind](claimed))])

    for _ in range(2):  # the retry begins to count anew
        for kind in itertools.islice(kinds, MAX_LOSSES):
            lose(kind)
            assert world.states("d") == {"a": "scheduled"}
        lose(last)
    assert world.states("d") == {"a": "failed"}
    states = world.conn.execute("select state from try order by try_number").fetchall()
    assert [number for number, (state,) in enumerate(states, 1) if state == "failed"] == [4, 8]
    world.check()


class TestCallbacks:
    """Handed to one worker after the other, each of which dies."""

    @pytest.fixture(autouse=True)
    def asked(self, world: World) -> None:
        world.add(spec("d", task("a")))
        world.scheduler().run_once()
        [(run_key,)] = world.conn.execute("select run_key from run").fetchall()
        with transaction(world.conn, "test"):
            new = NewCallback(run_key, "d", "failure", "it failed", "local", "default", "a")
            callbacks.add(world.conn, [new])

    @staticmethod
    def claim(conn: Conn) -> tuple[int, int]:
        """A worker that takes what waits, and how much that is."""
        with transaction(conn, "test"):
            worker = processes.register(
                conn, role="work", host="h", pid=1, version="t", lost_after=300, executor="local",
                queues=["default"], slots=1,
            )  # fmt: skip
            found = callbacks.claim(
                conn, worker=worker, executor="local", queues=["default"], limit=9
            )
        return worker, len(found)

    def test_four_losses_and_it_is_given_up(
        self, connection: Conn, caplog: pytest.LogCaptureFixture
    ) -> None:
        for _ in range(MAX_LOSSES + 1):
            assert "is given up" not in caplog.text
            worker, claimed = self.claim(connection)
            assert claimed == 1
            with transaction(connection, "test"), caplog.at_level(logging.ERROR):
                free(connection, worker, f"worker {worker} died")
        said = f"{MAX_LOSSES + 1} workers went down with it; the last: worker {worker} died"
        assert f"of d.a is given up: {said}" in caplog.text
        assert self.claim(connection)[1] == 0
        assert connection.execute("select given_up from callback").fetchall() == [(said,)]

    def test_what_a_living_worker_holds_is_not_lost(self, connection: Conn) -> None:
        worker, _ = self.claim(connection)
        held = callbacks.held(connection, worker)
        with transaction(connection, "test"):
            free(connection, worker, "an answer was lost", held_callbacks=held)
        assert connection.execute("select worker, losses from callback").fetchall() == [(worker, 0)]
