"""What holds in every place of the terminal UI: whatever is pressed, shown, or made small."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from random import Random
from typing import Any

import pytest
from driving import drive
from hostile import spoil
from places import PLACES, visit
from snapshots import lines_of
from textual.screen import ModalScreen, Screen

from flow_tui import dialogs, screens
from flow_tui.actions import ACTIONS
from flow_tui.view import View
from operations_world import World

FRAMES = {"ChooseDialog", "Dialog", "TextDialog"}
"""Dialogs that only others are made of."""
KEYS = sorted(
    {key for action in ACTIONS for key in action.key.split(",") if action.id != "app.quit"}
    | {
        "enter",
        "escape",
        "tab",
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "b",
        "1",
        "G",
        "ctrl+y",
    }
)


def made_in(package: Any, base: type[Screen[Any]]) -> set[str]:
    """The screens of a package, by the names of their classes."""
    return {
        found.__name__
        for module in pkgutil.iter_modules(package.__path__)
        for found in vars(import_module(f"{package.__name__}.{module.name}")).values()
        if isinstance(found, type)
        and issubclass(found, base)
        and found.__module__ == f"{package.__name__}.{module.name}"
    }


def everything(world: World) -> dict[str, list[Any]]:
    """Everything that the database holds: every table of every schema, and every sequence."""
    tables = world.rows(
        "select format('%%I.%%I', nspname, relname) from pg_class"
        " join pg_namespace on pg_namespace.oid = relnamespace"
        " where relkind in ('r', 'S') and nspname !~ '^pg_' and nspname <> 'information_schema'"
    )
    return {table: sorted(map(repr, world.rows(f"select * from {table}"))) for (table,) in tables}


def test_every_screen_and_every_dialog_is_a_place() -> None:
    known = made_in(screens, View) | (made_in(dialogs, ModalScreen) - FRAMES)
    assert {place.name for place in PLACES} == known


def some_keys(seed: int) -> Iterator[list[str]]:
    """A few keys for each place; of one seed always the same."""
    chance = Random(seed)
    while True:
        yield chance.choices(KEYS, k=4)


@pytest.fixture(scope="module")
def spoilt(night: World) -> World:
    """The night, with texts in it that are no good to anybody."""
    spoil(night)
    return night


def test_no_keys_raise_and_none_change_anything_when_read_only(spoilt: World, open_night) -> None:
    before = everything(spoilt)
    assert before["public.run"]

    async def story(pilot) -> None:
        for place, pressed in zip(PLACES, some_keys(1), strict=False):
            await visit(pilot, place)
            assert_plain(lines_of(pilot.app))
            for _ in range(place.panes):
                await pilot.press("right_square_bracket")
                assert_plain(lines_of(pilot.app))
            await pilot.resize_terminal(20, 5)
            await pilot.press(*pressed)
            assert_plain(lines_of(pilot.app))
            await pilot.resize_terminal(120, 40)

    drive(open_night(read_only=True), story)
    assert everything(spoilt) == before


def test_no_keys_raise_where_something_is_changed(spoilt: World, open_night) -> None:
    async def story(pilot) -> None:
        for place, pressed in zip(PLACES, some_keys(2), strict=False):
            if place.changes:
                await visit(pilot, place)
                await pilot.resize_terminal(20, 5)
                await pilot.press(*pressed)
                await pilot.resize_terminal(120, 40)

    drive(open_night(), story)


def assert_plain(lines: list[str]) -> None:
    """Nothing that a terminal would obey is on a screen."""
    assert not [line for line in lines if not line.isprintable()]
