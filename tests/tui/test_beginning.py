"""What is read beside the imports, and where the terminal UI opens."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from driving import drive, until, until_shown

from flow.config import load
from flow.errors import DatabaseError, NotFound
from flow.settings import Settings
from flow_tui.app import FlowApp
from flow_tui.beginning import Beginning, Begun, first_question
from flow_tui.memory import Memory
from flow_tui.session import Session
from flow_tui.targets import Kind
from operations_world import World
from postgres import url_of

RUN = "manual__2026-07-08T00:00:00+00:00"


def settings(url: str, home: Path) -> Settings:
    environ = {"FLOW_HOME": str(home), "FLOW_DATABASE_URL": url}
    return load(environ=environ, folder=home).settings


def begin(world: World, view: str, *words: str) -> Begun:
    asked = settings(url_of(world.dsn), world.home)
    return Beginning(asked, first_question(view, words)).wait()


@pytest.mark.parametrize("view", ["home", "dags"])
def test_what_was_read_already_is_shown_without_another_read(
    failed: World, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    async def never(session: Session, operation: object) -> object:
        return await asyncio.Event().wait()

    monkeypatch.setattr(Session, "read", never)
    begun = begin(failed, view)
    session = Session(settings(url_of(failed.dsn), failed.home))
    session.go_on(begun)
    memory = Memory(None)
    memory.set("view", view)

    async def story(pilot) -> None:
        await until_shown(pilot, "sales")

    drive(FlowApp(session, memory, (), begun), story)


def test_the_words_of_a_command_line_are_places(failed: World) -> None:
    begun = begin(failed, "home", "sales", "2026-07-08", "load")
    assert [one.words for one in begun.answer] == [
        ("sales",),
        ("sales", RUN),
        ("sales", RUN, "load"),
    ]
    assert [one.kind for one in begun.answer] == [Kind.DAG, Kind.RUN, Kind.TASK]
    begun.stack.close()


def test_a_place_that_is_not_there_is_told_before_anything_is_painted(failed: World) -> None:
    with pytest.raises(NotFound, match="there is no DAG 'slaes'"):
        begin(failed, "home", "slaes")


def test_so_is_a_database_that_is_not_there(tmp_path: Path) -> None:
    asked = settings("postgresql://nobody@127.0.0.1:1/nothing", tmp_path)
    with pytest.raises(DatabaseError):
        Beginning(asked, first_question("home", ())).wait()


def test_it_opens_on_the_view_that_was_left(world: World, make_app) -> None:
    async def leave(pilot) -> None:
        await pilot.press("3")
        await until_shown(pilot, "no backfill yet")

    async def come_back(pilot) -> None:
        await until_shown(pilot, "no backfill yet")
        assert pilot.app.current_mode == "backfills"

    drive(make_app(), leave)
    drive(make_app(), come_back)


def test_a_place_opens_with_the_dags_behind_it(failed: World, make_app) -> None:
    begun = begin(failed, "home", "sales")
    begun.stack.close()

    async def story(pilot) -> None:
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the grid")
        assert pilot.app.current_mode == "dags"

    drive(make_app(*begun.answer), story)
