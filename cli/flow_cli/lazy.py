"""The top level of `flow`, whose commands are imported when they are used and not before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from flow_cli.catalogue import Entry, in_panel_order
from flow_cli.pages import Group

if TYPE_CHECKING:
    from typer._click import Command as AnyCommand
    from typer._click import Context


class LazyCommands(Mapping[str, "AnyCommand"]):
    """Commands by name, in the order of `flow --help`; looking one up imports its module."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.entries = {entry.name: entry for entry in in_panel_order(entries)}
        self._loaded: dict[str, AnyCommand] = {}

    def __getitem__(self, name: str) -> AnyCommand:
        if name not in self._loaded:
            self._loaded[name] = load(self.entries[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class LazyGroup(Group):
    """A group that reads its help page from a table of entries."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.entries: Mapping[str, Entry] = {}

    def fill(self, entries: tuple[Entry, ...]) -> None:
        """Take the commands from a table."""
        commands = LazyCommands(entries)
        self.entries = commands.entries
        self.commands = commands  # type: ignore[assignment]  # Typer only reads it from here on

    def list_commands(self, ctx: Context) -> list[str]:
        return list(self.commands)

    def listed(self, ctx: Context) -> list[AnyCommand]:
        return [
            TyperCommand(entry.name, help=entry.summary, rich_help_panel=entry.panel)
            for entry in self.entries.values()
        ]


def load(entry: Entry) -> AnyCommand:
    """The command of an entry, from the `app` of its module."""
    app: typer.Typer = import_module(entry.module).app
    command = get_command(app)
    command.name = entry.name
    return command
