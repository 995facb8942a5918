"""What holds for every screen."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

from flow_tui import screens
from flow_tui.actions import for_kinds
from flow_tui.app import FlowApp
from flow_tui.view import View

SCREENS = [
    found
    for module in pkgutil.iter_modules(screens.__path__)
    for found in vars(import_module(f"flow_tui.screens.{module.name}")).values()
    if isinstance(found, type)
    and issubclass(found, View)
    and found.__module__ == f"flow_tui.screens.{module.name}"
]


@pytest.mark.parametrize("screen", SCREENS)
def test_every_key_of_a_screen_has_somebody_who_does_it(screen: type[View]) -> None:
    for action in for_kinds(screen.KINDS):
        if action.make is None and not action.id.startswith("view."):
            deed = "do_" + action.id.replace(".", "_")
            assert hasattr(screen, deed) or hasattr(FlowApp, deed), action.id


def test_there_are_screens() -> None:
    assert len(SCREENS) > 5
