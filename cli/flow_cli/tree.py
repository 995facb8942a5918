"""The command tree as data: what the manual page and the completion scripts are made from.

Typer carries a Click of its own, so tools that walk a `click.Command` cannot read it. Only methods
that Typer's commands and parameters have in common with Click's are used here.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import typer
from typer.core import TyperGroup, TyperOption

from flow_cli.pages import example_lines, summary_of

if TYPE_CHECKING:
    from typer._click import Command as AnyCommand
    from typer._click.core import Parameter

FILE_METAVARS = frozenset({"FILE", "PATH"})
FOLDER_METAVARS = frozenset({"DIR"})


class Word(NamedTuple):
    """An option (`names` are `-o`, `--output`) or an argument (`names` is how it is shown)."""

    names: tuple[str, ...]
    metavar: str
    help: str
    choices: tuple[str, ...]
    is_option: bool

    @property
    def takes_value(self) -> bool:
        """Whether a value follows: always for an argument, not for a flag."""
        return bool(self.metavar)


class Page(NamedTuple):
    """One command or group with everything its help page says."""

    path: str
    summary: str
    description: str
    usage: str
    words: tuple[Word, ...]
    commands: tuple[tuple[str, str], ...]
    examples: tuple[str, ...]

    @property
    def options(self) -> tuple[Word, ...]:
        """The words that have names."""
        return tuple(word for word in self.words if word.is_option)

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words that have a place."""
        return tuple(word for word in self.words if not word.is_option)


def pages(command: AnyCommand, parent: typer.Context | None = None) -> list[Page]:
    """A command and all that is below it, parents first. Imports every command."""
    return list(_walk(command, parent))


def _walk(command: AnyCommand, parent: typer.Context | None) -> Iterator[Page]:
    context = typer.Context(
        command, info_name=command.name, parent=parent, **command.context_settings
    )
    below = list(command.commands.values()) if isinstance(command, TyperGroup) else []
    visible = [child for child in below if not child.hidden]
    yield _page(command, context, visible)
    for child in visible:
        yield from _walk(child, context)


def _page(command: AnyCommand, context: typer.Context, below: list[AnyCommand]) -> Page:
    description = inspect.cleandoc(command.help or "")
    return Page(
        path=context.command_path,
        summary=summary_of(command.help),
        description=description,
        usage=" ".join(command.collect_usage_pieces(context)),
        words=tuple(
            _word(parameter, context)
            for parameter in command.get_params(context)
            if not getattr(parameter, "hidden", False)
        ),
        commands=tuple((child.name or "", summary_of(child.help)) for child in below),
        examples=tuple(example_lines(command.epilog)),
    )


def _word(parameter: Parameter, context: typer.Context) -> Word:
    choices = tuple(item.value for item in parameter.shell_complete(context, "") if item.value)
    metavar = parameter.metavar or "|".join(choices) or parameter.name.upper()
    if not isinstance(parameter, TyperOption):
        return Word((metavar,), metavar, _help_of(parameter), choices, is_option=False)
    # Typer keeps the names of the help option in a set, whose order changes from run to run.
    names = tuple(sorted((*parameter.opts, *parameter.secondary_opts), key=len))
    value = "" if parameter.is_flag else metavar
    return Word(names, value, _help_of(parameter), choices, is_option=True)


def _help_of(parameter: Parameter) -> str:
    return " ".join((getattr(parameter, "help", None) or "").split())
