"""Logs of a run whose id an earlier run had."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from flow.errors import NotFound
from flow.logs import LogFiles
from flow.logs.earlier import set_aside
from flow.ops import deleting, logs, running
from flow.ops.logs import Reading, Request
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import TaskState
from flow.store.connect import transaction
from flow.store.read import runs
from flow.store.tries import Claimed
from operations_world import World

REQUEST = Request("sales", "one", ["load"])


@pytest.fixture
def earlier(world: World) -> Path:
    """The log of a run that has been deleted."""
    world.define("sales", {"load": ()})
    run(world)
    world.finish()
    deleting.delete(world.deployment, "sales", Which("one"))
    path = Path(
        LogFiles(world.deployment.settings.logs.root).address("sales", "one", "load", (), 1)
    )
    path.parent.mkdir(parents=True)
    path.write_text("story one\n")
    return path


def run(world: World) -> None:
    running.run(world.deployment, Wish("sales", run_id="one"))
    world.schedule()


def claimed(world: World, log: Path) -> Claimed:
    """A run made again, and its try claimed: its process has not begun."""
    run(world)
    found = runs.by_id(world.conn, "sales", "one")
    assert found is not None
    before = (found.made_at - timedelta(milliseconds=1)).timestamp()
    os.utime(log, (before, before))
    (task,) = world.claim().values()
    note(world, pid=None)
    return task


def note(world: World, pid: int | None) -> None:
    with transaction(world.conn, "test"):
        world.conn.execute("update try_hot set pid = %s, log = null", (pid,))


def text_of(reading: Reading) -> str:
    return "".join(piece.text for piece in reading.pieces)


def test_before_its_try_begins_nothing_is_read(world: World, earlier: Path) -> None:
    task = claimed(world, earlier)
    assert text_of(logs.read(world.deployment, REQUEST)) == ""
    set_aside(earlier)
    earlier.write_text("story two\n")
    reading = logs.read(world.deployment, REQUEST)
    kept = earlier.with_name("attempt=1.earlier-run-1.log")
    assert (text_of(reading), reading.earlier) == ("story two\n", [str(kept)])
    world.end(task)
    assert text_of(logs.read(world.deployment, REQUEST)) == "story two\n"
    followed = logs.follow(world.deployment, REQUEST)
    assert (text_of(followed), followed.earlier) == ("story two\n", [str(kept)])


def test_a_follower_waits_for_the_log_of_its_run(world: World, earlier: Path) -> None:
    task = claimed(world, earlier)
    follower = logs.follow(world.deployment, REQUEST)
    world.end(task, TaskState.FAILED)
    world.schedule()
    assert text_of(follower) == "", "the try has ended and never had a process"


def test_a_try_that_never_had_a_process_has_no_log(world: World, earlier: Path) -> None:
    world.end(claimed(world, earlier), TaskState.FAILED)
    with pytest.raises(NotFound, match=r"the log of load, try 1, is not here") as raised:
        text_of(logs.read(world.deployment, REQUEST))
    assert raised.value.hint.startswith("what lies there is of an earlier run")


def test_when_its_process_is_known_the_clock_of_its_host_is_not_asked(
    world: World, earlier: Path
) -> None:
    claimed(world, earlier)
    note(world, pid=7)
    assert text_of(logs.read(world.deployment, REQUEST)) == "story one\n"


def test_a_follower_of_a_deleted_run_does_not_follow_the_next_one(
    world: World, earlier: Path
) -> None:
    task = claimed(world, earlier)
    follower = logs.follow(world.deployment, REQUEST)
    world.end(task)
    world.schedule()
    deleting.delete(world.deployment, "sales", Which("one"))
    claimed(world, earlier)
    with pytest.raises(NotFound, match="run 'one' has been deleted"):
        next(follower.pieces)
