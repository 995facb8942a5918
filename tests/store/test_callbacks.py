"""What callbacks of a run get to see of its tasks."""

from __future__ import annotations

import pytest
from hand_driven import World, spec, task

from flow.states import TaskState
from flow.store import callbacks
from flow.store.callbacks import ClaimedCallback
from flow.store.connect import transaction
from flow.store.tries import Claimed


def called(world: World, *failing: str) -> ClaimedCallback:
    """The callback of a run in which these tasks fail."""

    def outcome(one: Claimed) -> TaskState:
        return TaskState.FAILED if one.task_id in failing else TaskState.SUCCESS

    tasks = (task("a"), task("b", "a"), task("c", "b", trigger_rule="all_done"), task("z", "b"))
    world.add(spec("d", *tasks, callbacks=("failure", "success")))
    world.settle(world.scheduler(), outcome=outcome, limit=1)
    with transaction(world.conn, "test"):
        [found] = callbacks.claim(
            world.conn, worker=world.worker(), executor="local", queues=["default"], limit=9
        )
    return found


def test_of_a_failed_run_the_task_that_failed_first(world: World) -> None:
    found = called(world, "b", "c")
    assert found.last is not None
    assert (found.kind, found.last.task_id, found.last.state) == ("failure", "b", "failed")
    assert (found.last.try_number, found.last.max_tries) == (1, 1)


def test_of_a_green_run_the_task_that_ended_last(world: World) -> None:
    found = called(world)
    [(last,)] = world.conn.execute("select task_id from task order by ended_at desc limit 1")
    assert found.last is not None
    assert (found.kind, found.last.task_id, found.last.state) == ("success", last, "success")


@pytest.mark.parametrize("kind", ["failure", "success"])
def test_of_a_run_in_which_nothing_has_begun_none(world: World, kind: str) -> None:
    world.add(spec("d", task("a")))
    world.scheduler().run_once()
    world.worker()
    [(run_key,)] = world.conn.execute("update task_hot set try_number = 0 returning run_key")
    with transaction(world.conn, "test"):
        new = callbacks.NewCallback(run_key, "d", kind, "it ended", "local", "default")
        callbacks.add(world.conn, [new])
        [found] = callbacks.claim(
            world.conn, worker=world.worker(), executor="local", queues=["default"], limit=9
        )
    assert found.last is None
