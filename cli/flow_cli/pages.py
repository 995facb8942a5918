"""Help pages: the classes of every command and group, and the examples each page ends with.

Help texts are plain text, brackets and all. On a terminal they are drawn by rich, which would take
`t[3]` for markup, so they are escaped just before drawing. Everywhere else, and with NO_COLOR, they
are printed without frames and colours, and without importing rich.
"""

from __future__ import annotations

import copy
import inspect
import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from flow_cli import exits, usage
from flow_cli.convert import with_own_converters

if TYPE_CHECKING:
    # Typer carries a Click of its own, which is not the `click` package.
    from typer._click import Command as AnyCommand
    from typer._click import Context
    from typer._click.core import Parameter
    from typer._click.formatting import HelpFormatter

CommandType = TypeVar("CommandType", bound="AnyCommand")

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
EXAMPLES_HEADING = "Examples:"
DEFAULT_PANEL = "Commands"


def examples(*lines: str) -> str:
    """The end of a help page: commands that can be typed as they stand."""
    return "\n".join([EXAMPLES_HEADING, *(f"  {line}" for line in lines)])


def example_lines(epilog: str | None) -> list[str]:
    """The commands that `examples` was given."""
    return [line.strip() for line in (epilog or "").splitlines()[1:]]


def group(summary: str, *example: str) -> typer.Typer:
    """The `app` of a module with several commands."""

    def nothing_of_its_own() -> None:
        # Typer makes a group with a single command into that command, unless it has a callback.
        return None

    return typer.Typer(
        cls=Group,
        callback=nothing_of_its_own,
        help=summary,
        epilog=examples(*example),
        add_completion=False,
    )


def single() -> typer.Typer:
    """The `app` of a module with one command, which has the name of its entry."""
    return typer.Typer(add_completion=False)


class Command(TyperCommand):
    """A command whose help page is plain text."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        # What is too much is refused below, with a word about where it may belong.
        own = {**HELP_OPTIONS, "allow_extra_args": True}
        self.context_settings = {**own, **self.context_settings}

    def get_params(self, ctx: Context) -> list[Parameter]:
        return with_own_converters(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        return usage.pieces(self, ctx)

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        try:
            if not ctx.resilient_parsing:
                usage.refuse_repeated(self, ctx, args)
            rest = super().parse_args(ctx, args)
        except typer.TyperException as error:
            meant = usage.other_command(ctx, first)
            if meant is None or not usage.is_written_elsewhere(error):
                raise
            raise meant from error
        if rest and not ctx.resilient_parsing:
            raise usage.other_command(ctx, first) or usage.too_many(ctx, rest)
        return rest

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        if _drawn():
            TyperCommand.format_help(_for_rich(self), ctx, formatter)
            _draw_epilog(self.epilog)
        else:
            _write_plain(self, ctx, formatter)

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        _write_epilog(self.epilog, formatter)


class Group(TyperGroup):
    """A group of commands; without a command it shows its help page and ends as wrong usage."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.context_settings = {**HELP_OPTIONS, **self.context_settings}

    def get_params(self, ctx: Context) -> list[Parameter]:
        return with_own_converters(super().get_params(ctx))

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), nl=not _drawn())
            raise typer.Exit(exits.USAGE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, AnyCommand | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            meant = usage.other_command(ctx, args[0])
            if meant is None:
                raise
            raise meant from error

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        if _drawn():
            shown = _for_rich(self)
            shown.commands = {each.name or "": _for_rich(each) for each in self.listed(ctx)}
            TyperGroup.format_help(shown, ctx, formatter)
            _draw_epilog(self.epilog)
        else:
            _write_plain(self, ctx, formatter)

    def listed(self, ctx: Context) -> list[AnyCommand]:
        """The commands as the help page shows them: name, first sentence, panel."""
        return [command for command in self.commands.values() if not command.hidden]

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for command in self.listed(ctx):
            panel = getattr(command, "rich_help_panel", None) or DEFAULT_PANEL
            panels.setdefault(panel, []).append((command.name or "", summary_of(command.help)))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        _write_epilog(self.epilog, formatter)


def summary_of(help_text: str | None) -> str:
    """The first paragraph of a help text, on one line."""
    return " ".join(inspect.cleandoc(help_text or "").partition("\n\n")[0].split())


def _drawn() -> bool:
    """Typer's frames are not drawn without colours: NO_COLOR would leave bold and dim in them."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _write_plain(command: Command | Group, ctx: Context, formatter: HelpFormatter) -> None:
    command.format_usage(ctx, formatter)
    command.format_help_text(ctx, formatter)
    command.format_options(ctx, formatter)
    command.format_epilog(ctx, formatter)


def _write_epilog(epilog: str | None, formatter: HelpFormatter) -> None:
    """As it stands: a command line that is wrapped can no longer be copied."""
    if epilog:
        formatter.write(f"\n{epilog}\n")


def _draw_epilog(epilog: str | None) -> None:
    from flow_cli.terminal import draw_lines

    draw_lines(sys.stdout, [f" {line}" for line in (epilog or "").splitlines()])


def _for_rich(command: CommandType) -> CommandType:
    """A copy whose texts rich draws as they are written, and without the epilog."""
    from rich.markup import escape

    shown = copy.copy(command)
    shown.help = escape(command.help or "")
    shown.epilog = None
    shown.params = [copy.copy(param) for param in command.params]
    for param in shown.params:
        text = getattr(param, "help", None)
        if text:
            param.help = escape(text)  # type: ignore[attr-defined]
    return shown
