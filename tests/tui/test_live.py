"""What the terminal UI does unasked: looks, waits, loses the database and finds it, remembers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from driving import drive, until, until_shown
from psycopg import sql
from psycopg.conninfo import make_conninfo
from snapshots import lines_of
from textual import events
from textual.pilot import Pilot

from flow.ops import running
from flow.ops.running import Wish
from flow.states import TaskState
from flow.store import connect
from flow_tui import feed, session, targets
from flow_tui.session import Line
from flow_tui.view import View
from operations_world import World
from postgres import PostgresServer, url_of
from support.stalling_proxy import StallingProxy, stalling_line

RUN = "manual__2026-07-08T00:00:00+00:00"
SALES = targets.dag("sales")


@pytest.fixture
def sales(world: World) -> World:
    """A DAG with a run whose second task has failed."""
    world.define("sales")
    running.run(world.deployment, Wish("sales", date="2026-07-08"))
    world.finish({"load": TaskState.FAILED})
    return world


class Asked:
    """How often the database has been asked for something, and how often it has answered."""

    def __init__(self) -> None:
        self.begun = 0
        self.ended = 0

    @property
    def quiet(self) -> bool:
        """Whether it has been asked for nothing that it has not answered."""
        return self.begun == self.ended


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Counts what any line of a session is asked for."""
    counts, ask = Asked(), Line.ask

    async def counting(self: Line, operation: Any) -> Any:
        counts.begun += 1
        try:
            return await ask(self, operation)
        finally:
            counts.ended += 1

    monkeypatch.setattr(Line, "ask", counting)
    return counts


@contextmanager
def locked(world: World, table: str) -> Iterator[None]:
    """Nobody can read a table."""
    with psycopg.connect(world.dsn) as conn:
        conn.execute(
            sql.SQL("lock table {} in access exclusive mode").format(sql.Identifier(table))
        )
        yield
        conn.rollback()


async def ask_for_nothing_more(pilot: Pilot[Any], asked: Asked) -> None:
    """Let the terminal lose the focus, and what has begun come to its end."""
    pilot.app.post_message(events.AppBlur())
    await until(pilot, lambda: not pilot.app.app_focus, "the loss of the focus")
    screen = pilot.app.screen
    assert isinstance(screen, View)
    await until(pilot, lambda: asked.quiet and not screen._loading, "the end of all reading")


def test_nothing_is_asked_while_nobody_looks(
    sales: World, make_app, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("BUSY", "IDLE", "ANYWAY", "ANYWAY_IDLE"):
        monkeypatch.setattr(feed, pause, 0.001)

    async def story(pilot) -> None:
        await pilot.press("2")
        await until_shown(pilot, "sales")
        begun, looks = asked.begun, 0
        while asked.begun < begun + 10:
            await pilot.pause(0.02)
            looks += 1
        await ask_for_nothing_more(pilot, asked)
        begun = asked.begun
        for _ in range(2 * looks):  # in half of that time it has asked ten times
            await pilot.pause(0.02)
        assert asked.begun == begun

    drive(make_app(), story)


def test_what_has_changed_is_seen_as_soon_as_somebody_looks_again(
    sales: World, make_app, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By itself it would look again in an hour.
    monkeypatch.setattr(feed, "BUSY", 3600.0)
    monkeypatch.setattr(feed, "IDLE", 3600.0)

    async def story(pilot) -> None:
        await until_shown(pilot, "✗ failed")
        await ask_for_nothing_more(pilot, asked)
        sales.conn.execute("update task_history set state = 'skipped' where task_id = 'load'")
        sales.conn.execute("select nextval('change_counter')")
        pilot.app.post_message(events.AppFocus())
        await until_shown(pilot, "» skipped")

    drive(make_app(targets.task("sales", RUN, "load")), story)


def test_a_lost_database_is_told_and_found_again(
    sales: World, server: PostgresServer, make_app
) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "upstream_failed")
        with without_database(sales, server):
            await until_shown(pilot, "trying again")
            assert any("upstream_failed" in line for line in lines_of(pilot.app))
            await pilot.press("question_mark")  # keys work as before
            await until_shown(pilot, "Back to where you came from.")
            await pilot.press("escape")
            sales.conn.execute("update run set note = 'while nobody could look'")
        await until(pilot, lambda: not said(pilot, "trying again"), "the end of the banner")
        await pilot.press("tab")
        await until_shown(pilot, "while nobody could look")

    drive(make_app(targets.run("sales", RUN)), story)


@pytest.fixture
def line(server: PostgresServer, direct: str) -> Iterator[StallingProxy]:
    """A line to the database that can stand still."""
    with stalling_line(server.embedded.socket_directory) as made:
        yield made


def test_a_database_that_stands_still_is_told_and_keys_work(
    sales: World, line: StallingProxy, make_app, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "OVERDUE", 0.2)
    through = url_of(make_conninfo(sales.dsn, host=str(line.folder)))

    async def story(pilot) -> None:
        await until_shown(pilot, "✗ failed")
        line.stall()
        await until_shown(pilot, "what is shown may be old")
        assert said(pilot, "✗ failed")
        await pilot.press("4")
        await until_shown(pilot, "reading …")
        line.flow()
        await until(pilot, lambda: not said(pilot, "may be old"), "the end of the banner")
        await until_shown(pilot, "default_pool")

    drive(make_app(targets.run("sales", RUN), FLOW_DATABASE_URL=through), story)


def test_a_line_on_which_nothing_comes_is_left_for_another(
    sales: World, line: StallingProxy, make_app, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "READ_PATIENCE", 0.5)
    monkeypatch.setattr(connect, "_ON_THE_WAY", 0.0)
    through = url_of(make_conninfo(sales.dsn, host=str(line.folder)))

    async def story(pilot) -> None:
        await until_shown(pilot, "upstream_failed")
        line.freeze()
        await until_shown(pilot, "trying again")
        sales.conn.execute("update run set note = 'while nobody could look'")
        await until(pilot, lambda: not said(pilot, "trying again"), "the end of the banner")
        await pilot.press("tab")
        await until_shown(pilot, "while nobody could look")

    drive(make_app(targets.run("sales", RUN), FLOW_DATABASE_URL=through), story)


@pytest.fixture
def replica(server: PostgresServer, tmp_path: Path) -> Iterator[World]:
    """Another database in the place of a replica, to be told from the primary by a tag."""
    name = server.create()
    dsn = server.of(name)
    with connect.connect(dsn, name="test") as conn:
        made = World(dsn, conn, tmp_path)
        made.define("sales", tags=("replicated",))
        yield made
    server.drop(name)


def test_it_reads_from_a_replica_and_changes_the_primary(
    sales: World, replica: World, make_app
) -> None:
    async def story(pilot) -> None:
        await pilot.press("2")
        await until_shown(pilot, "replicated")
        await pilot.press("P")
        await until_shown(pilot, "Pause 1 DAG?")
        await until(pilot, lambda: not pilot.app.screen.query_one("#do").disabled, "the button")
        await pilot.press("enter")
        await until(pilot, lambda: sales.rows("select paused from dag") == [(True,)], "the pause")
        assert replica.rows("select paused from dag") == [(False,)]

    drive(make_app(FLOW_DATABASE_REPLICA_URL=url_of(replica.dsn)), story)


def said(pilot: Pilot[Any], text: str) -> bool:
    """Whether a text stands on the screen."""
    return any(text in line for line in lines_of(pilot.app))


@contextmanager
def without_database(world: World, server: PostgresServer) -> Iterator[None]:
    """Everybody else loses their connections, and gets no other."""
    name = psycopg.conninfo.conninfo_to_dict(world.dsn)["dbname"]
    allow = sql.SQL("alter database {} allow_connections {}")
    with psycopg.connect(server.dsn, autocommit=True) as conn:
        conn.execute(allow.format(sql.Identifier(str(name)), sql.Literal(False)))
        world.conn.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        try:
            yield
        finally:
            conn.execute(allow.format(sql.Identifier(str(name)), sql.Literal(True)))


def test_keys_work_while_the_database_takes_its_time(sales: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "✓ success  extract")
        with locked(sales, "try_history"):
            await pilot.press("down", "enter")
            await until_shown(pilot, f"sales › {RUN} › load")
            await pilot.press("question_mark")
            await until_shown(pilot, "Back to where you came from.")
            await pilot.press("escape", "tab", "tab")
            await until(pilot, lambda: pilot.app.screen.command.startswith("flow why"), "the pane")
            assert not said(pilot, "✗ failed")
        await until_shown(pilot, "✗ failed")

    drive(make_app(SALES), story)


def test_going_back_waits_for_nothing(sales: World, make_app) -> None:
    async def story(pilot) -> None:
        await until_shown(pilot, "✓ success  extract")
        await pilot.press("down", "enter")
        await until_shown(pilot, "✗ failed")
        with locked(sales, "run"):
            await pilot.press("escape")
            await until_shown(pilot, "1 run")
            await until_shown(pilot, "✗ failed  load")
            await pilot.press("up")
            await until_shown(pilot, "✓ success  extract")

    drive(make_app(SALES), story)


@pytest.mark.parametrize("kept", ["{", "[]", "\0", '{"theme": 7, "grids": 5, "palette": []}'])
def test_a_memory_that_cannot_be_read_is_forgotten(
    sales: World, make_app, tmp_path: Path, kept: str
) -> None:
    file = tmp_path / "tui.json"
    file.write_text(kept)

    async def story(pilot) -> None:
        await until_shown(pilot, "✓ success  extract")
        pilot.app.use_theme("flow-light")

    drive(make_app(SALES), story)
    assert json.loads(file.read_text())["theme"] == "flow-light"


def test_without_colours_everything_is_shown(
    sales: World, make_app, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def story(pilot) -> None:
        await until_shown(pilot, "✗ failed")
        for key, shown in (
            ("escape", "upstream_failed"),
            ("escape", "✓ success  extract"),
            ("2", "last runs"),
            ("1", "latest failures"),
            ("3", "no backfill yet"),
            ("4", "default_pool"),
            ("5", "work"),
            ("6", "every DAG file can be imported"),
            ("7", "when"),
        ):
            await pilot.press(key)
            await until_shown(pilot, shown)

    drive(make_app(SALES, targets.run("sales", RUN), targets.task("sales", RUN, "load")), story)
