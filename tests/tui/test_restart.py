"""The database server is stopped and started again under the terminal UI, which goes on."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import drive, until, until_shown
from snapshots import lines_of
from textual.pilot import Pilot

import prepared_home
from flow.config import load
from flow.embedded import Server
from flow.ops import running
from flow.ops.running import Wish
from flow.states import TaskState
from flow.store.connect import connect
from flow_tui import targets
from flow_tui.app import FlowApp
from flow_tui.memory import Memory
from flow_tui.session import Session
from operations_world import World
from postgres import PostgresServer, url_of

RUN = "manual__2026-07-08T00:00:00+00:00"


@pytest.fixture
def own(server: PostgresServer) -> Iterator[Server]:
    """A server of its own, that can be stopped, with a run whose second task has failed."""
    folder = Path(tempfile.mkdtemp(prefix="fu-", dir="/tmp"))  # short, for the name of the socket
    folder.chmod(0o755)  # the server's account goes through it
    prepared_home.copy_to(folder / "h")
    made = Server(folder / "h")
    with connect(made.start(), name="test") as conn:
        world = World(made.dsn, conn, folder)
        world.start_worker()
        world.define("sales")
        running.run(world.deployment, Wish("sales", date="2026-07-08"))
        world.finish({"load": TaskState.FAILED})
    elsewhere = made.socket_directory
    yield made
    made.stop()
    shutil.rmtree(folder)
    if folder not in elsewhere.parents:
        shutil.rmtree(elsewhere, ignore_errors=True)


@pytest.fixture
def app(own: Server, tmp_path: Path) -> FlowApp:
    """An app on that server, at the failed run."""
    environ = {"FLOW_HOME": str(tmp_path), "FLOW_DATABASE_URL": url_of(own.dsn)}
    found = load(environ=environ, folder=tmp_path).settings
    return FlowApp(Session(found), Memory(None), [targets.run("sales", RUN)])


def said(pilot: Pilot[Any], text: str) -> bool:
    """Whether a text stands on the screen."""
    return any(text in line for line in lines_of(pilot.app))


def execute(own: Server, statement: str) -> list[Any]:
    """What a statement returns, on a connection of its own."""
    with connect(own.dsn, name="test") as conn:
        cursor = conn.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_a_restart_of_the_server_is_told_and_outlived(own: Server, app: FlowApp) -> None:
    async def story(pilot: Pilot[Any]) -> None:
        await until_shown(pilot, "upstream_failed")
        await pilot.press("C")
        await until(pilot, lambda: not app.screen.query_one("#do").disabled, "the plan")
        await asyncio.to_thread(own.stop)

        # What somebody has agreed to is not done, and said not to be done.
        await pilot.press("right", "enter")
        await until_shown(pilot, "the database went away")
        await until(pilot, lambda: app.screen.query_one("#do").disabled, "the end of the offer")
        await pilot.press("escape")

        # The banner tells; what was shown stays, and keys work.
        await until_shown(pilot, "trying again: ")
        assert said(pilot, "upstream_failed")
        await pilot.press("tab")
        await until_shown(pilot, "logical date")

        # Nothing else is offered either, and why is said.
        await pilot.press("C")
        await until_shown(pilot, "the database cannot be reached")
        assert app.screen.query_one("#do").disabled
        await pilot.press("escape", "4")
        await until_shown(pilot, "trying again: ")

        await asyncio.to_thread(own.start)
        execute(own, "update run set note = 'while nobody could look'")
        await until(pilot, lambda: not said(pilot, "trying again"), "the end of the banner")
        await until_shown(pilot, "default_pool")
        await pilot.press("2")
        await until_shown(pilot, "while nobody could look")
        assert execute(own, "select state from run") == [("failed",)]

        # And what is agreed to now is done.
        await pilot.press("C")
        await until(pilot, lambda: not app.screen.query_one("#do").disabled, "the plan")
        await pilot.press("right", "enter")
        await until(pilot, lambda: execute(own, "select state from run") == [("queued",)], "it")

    drive(app, story)
