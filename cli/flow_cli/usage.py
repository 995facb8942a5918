"""How a command is written: the pieces of its usage line, and what to say of arguments that do not
fit it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import typer

from flow.dates import looks_like_date
from flow.errors import UsageError
from flow_cli import synonyms

if TYPE_CHECKING:
    # Typer carries a Click of its own, which is not the `click` package.
    from typer._click import Command, Context

_DATE_AS_OPTION: Final = re.compile(r"-\d+$")
"""How a date such as -7d is read where a run is expected: as the option -7."""


def pieces(command: Command, context: Context) -> list[str]:
    """What follows the name of a command on its usage line: RUN must be there, [RUN] may be."""
    return ["[OPTIONS]", *_arguments(command, context)]


def too_many(context: Context, extra: Sequence[str]) -> UsageError:
    """What to say of arguments for which a command has no place."""
    noun = "argument" if len(extra) == 1 else "arguments"
    words = " ".join(map(str, extra))
    return UsageError(f"unexpected {noun}: {words}", _place_of(context, extra[0]) or _form(context))


def refuse_repeated(command: Command, context: Context, words: Sequence[str]) -> None:
    """Raise `UsageError` for a condition that is given twice: only the last one would hold."""
    _, _, order = command.make_parser(context).parse_args(args=list(words))
    if [param.name for param in order].count("where") > 1:
        raise UsageError(
            "--where is given more than once", "Join conditions: --where 'state=failed and dag~a*'"
        )


def hint_of(error: typer.TyperException) -> str:
    """What to do about a command line that could not be read."""
    context: Context | None = getattr(error, "ctx", None)
    if context is None:
        return "See: flow --help"
    option = str(getattr(error, "option_name", ""))
    if _DATE_AS_OPTION.match(option):
        behind = "--from, or at the end behind --" if "--from" in _options(context) else "--"
        return f"A date like {option}d goes behind {behind}"
    if meant := synonyms.option(option, _options(context)):
        return f"Write: {meant} (see: {context.command_path} --help)"
    # Only the error about a missing parameter knows what type of parameter it is.
    return _form(context) if hasattr(error, "param_type") else _see(context)


def _form(context: Context) -> str:
    """How a command is written, with all that it needs."""
    needed = [context.command_path, *_arguments(context.command, context)]
    for param in context.command.get_params(context):
        if param.param_type_name == "option" and param.required:
            needed += [param.opts[0], str(getattr(param, "metavar", None) or "VALUE")]
    return f"Write: {' '.join(needed)} (see: {context.command_path} --help)"


def _see(context: Context) -> str:
    return f"See: {context.command_path} --help"


def _arguments(command: Command, context: Context) -> Iterator[str]:
    for param in command.get_params(context):
        if param.param_type_name == "argument":
            yield _written(param)


def _options(context: Context) -> set[str]:
    return {opt for param in context.command.get_params(context) for opt in param.opts}


def _written(param: Any) -> str:
    name = str(param.metavar or param.name.upper())
    if param.nargs == -1 and " " not in name and not name.endswith("..."):
        name += "..."
    return name if param.required or name.startswith("[") else f"[{name}]"


def _place_of(context: Context, word: str) -> str | None:
    """The option that a word behind the arguments was probably meant for."""
    options = _options(context)
    if "--uri" in options:
        return f"A URI goes behind --uri: {context.command_path} … --uri {word}"
    if "--key" in options:
        return f"A key goes behind --key: {context.command_path} … --key {word}"
    if looks_like_date(word):
        if "--date" in options:
            return f"A date goes behind --date: {context.command_path} … --date {word}"
        if "--from" in options:
            return f"Dates go behind --from and --to: {context.command_path} … --from {word}"
    elif "-t" in options:
        return f"Tasks go behind -t: {context.command_path} … -t {word}"
    return None
