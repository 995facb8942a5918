"""The terminal UI on a real database, driven by keys; a scheduler makes its passes on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from night import NOW, build

from flow.config import load
from flow.ops import running
from flow.ops.running import Wish
from flow.states import TaskState
from flow.store.connect import Conn, connect
from flow_tui.app import FlowApp
from flow_tui.memory import Memory
from flow_tui.session import Session
from flow_tui.targets import Target
from operations_world import World
from postgres import PostgresServer, connection, database, server, url_of  # noqa: F401

MakeApp = Callable[..., FlowApp]


@pytest.fixture
def world(database: str, connection: Conn, tmp_path: Path) -> World:  # noqa: F811
    """A migrated deployment with a worker and no DAG."""
    made = World(database, connection, tmp_path)
    made.start_worker()
    return made


@pytest.fixture
def failed(world: World) -> World:
    """A run whose second task has failed."""
    world.define("sales", schedule="@daily")
    running.run(world.deployment, Wish("sales", date="2026-07-08"))
    world.finish({"load": TaskState.FAILED})
    return world


@pytest.fixture
def make_app(database: str, tmp_path: Path) -> MakeApp:  # noqa: F811
    """Makes an app on the deployment; `settings` are further variables of the environment."""

    def make(*start: Target, read_only: bool = False, **settings: str) -> FlowApp:
        environ = {
            "FLOW_HOME": str(tmp_path),
            "FLOW_DATABASE_URL": url_of(database),
            **settings,
        }
        found = load(environ=environ, folder=tmp_path).settings
        memory = Memory(tmp_path / "tui.json")
        return FlowApp(Session(found, read_only=read_only), memory, start)

    return make


@pytest.fixture(scope="module")
def night(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:  # noqa: F811
    """A deployment with something of everything, for what changes nothing in it."""
    name = server.create()
    dsn = server.of(name)
    with connect(dsn, name="test") as conn:
        yield build(dsn, conn, tmp_path_factory.mktemp("home"))
    server.drop(name)


@pytest.fixture
def open_night(night: World, tmp_path: Path) -> MakeApp:
    """Makes an app on that deployment, with a clock that stands still and a memory of its own."""

    def make(*start: Target, read_only: bool = False) -> FlowApp:
        environ = {"FLOW_HOME": str(night.home), "FLOW_DATABASE_URL": url_of(night.dsn)}
        found = load(environ=environ, folder=night.home).settings
        memory = Memory(tmp_path / "tui.json")
        app = FlowApp(Session(found, read_only=read_only), memory, start)
        app.clock = lambda: NOW
        return app

    return make
