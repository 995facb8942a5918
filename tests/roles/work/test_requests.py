"""What task processes may ask of their supervisor, and what it answers to nonsense."""

from pathlib import Path

import pytest
from hand_driven import World, spec, task

from flow.process.messages import (
    DeleteVariable,
    FromChild,
    GetConnection,
    GetVariable,
    PullXCom,
    PushXCom,
    Refused,
    SetVariable,
)
from flow.roles.stored import reader
from flow.roles.work.requests import answer


@pytest.fixture
def world(database, connection):
    made = World(database, connection)
    yield made
    made.close()


@pytest.mark.parametrize(
    "message",
    [
        PushXCom(key="a\0b", value="1"),
        PushXCom(key="a", value='"\0"'),
        PullXCom(task_ids=("a\0",), key="k"),
        PullXCom(task_ids=None, key="k", map_path=(2**40,)),
        GetVariable(key="a\0b"),
        SetVariable(key="a\0b", value="x"),
        DeleteVariable(key="half a pair \ud800"),
        GetConnection(conn_id="a\0b"),
    ],
)
def test_what_no_column_can_hold_is_refused_and_the_worker_goes_on(
    world: World, message: FromChild, tmp_path: Path
):
    world.add(spec("d", task("a")))
    scheduler = world.scheduler()
    world.worker()
    scheduler.run_once()
    [claimed] = world.claim()
    refused = answer(world.conn, claimed, message, tmp_path / "key")
    assert isinstance(refused, Refused)
    assert not refused.missing
    assert "cannot hold" in refused.error
    found = answer(world.conn, claimed, GetVariable(key="none"), tmp_path / "key")
    assert found == Refused(error=found.error, missing=True)


def test_a_dag_file_may_ask_for_what_no_column_can_hold(connection, tmp_path: Path):
    refused = reader(tmp_path / "key")(connection, GetVariable(key="a\0b"))
    assert isinstance(refused, Refused)
    assert "cannot hold" in refused.error
