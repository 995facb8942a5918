"""How a command is written: the pieces of its usage line, and what to say of arguments that do not
fit it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
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
_LIKENESS: Final = 0.7
"""Of 1: from when on an option is like enough to another to be told."""
_QUOTED: Final = "--description 'TEXT'"


def pieces(command: Command, context: Context) -> list[str]:
    """What follows the name of a command on its usage line: RUN must be there, [RUN] may be."""
    return ["[OPTIONS]", *_arguments(command, context)]


def too_many(context: Context, extra: Sequence[str]) -> UsageError:
    """What to say of arguments for which a command has no place."""
    noun = "argument" if len(extra) == 1 else "arguments"
    words = " ".join(map(str, extra))
    return UsageError(f"unexpected {noun}: {words}", _place_of(context, extra[0]) or _form(context))


def other_command(context: Context, word: str) -> UsageError | None:
    """What to say of a word that is a command elsewhere, such as `create`; None: it is none."""
    meant = None if word.startswith("-") else synonyms.command(context.command_path, word)
    return None if meant is None else UsageError(f"No such command {word!r}.", meant)


def is_written_elsewhere(error: typer.TyperException) -> bool:
    """Whether a command line may be that of another tool: its words or options are not ours.

    Any other mistake is one in a command of Flow, in which `create` may be the id of a DAG.
    """
    context: Context | None = getattr(error, "ctx", None)
    option = getattr(error, "option_name", None)
    if context is not None and option is not None:
        return _meant(context, option) is not None
    return hasattr(error, "param_type")  # something is missing


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
    if meant := _meant(context, option):
        return meant
    if "-o" in getattr(getattr(error, "param", None), "opts", ()):
        for typed, written in synonyms.VALUES.items():
            if f"{typed!r} is none of" in getattr(error, "message", ""):
                return f"Write: -o {written} (see: {context.command_path} --help)"
    # Only the error about a missing parameter knows what type of parameter it is.
    return _form(context) if hasattr(error, "param_type") else _see(context)


def sentence_of(error: typer.TyperException) -> str:
    """What is wrong with a command line, on one line, with options that are really alike."""
    told = error
    context: Context | None = getattr(error, "ctx", None)
    alike = getattr(error, "possibilities", None)
    if alike and context is not None:
        option = str(getattr(error, "option_name", ""))
        known = _meant(context, option) is not None
        kept = [] if known else [one for one in alike if _is_like(one, option)]
        unknown: Any = type(error)  # only the error about an option that is not there has others
        told = unknown(option, possibilities=kept, ctx=context)
    return " ".join(told.format_message().split())


def _meant(context: Context, option: str) -> str | None:
    """What to write instead of an option that a command does not have."""
    path = context.command_path
    if command := synonyms.command(path, option):
        return command
    if written := synonyms.option(option, _options(context)):
        return f"Write: {written} (see: {path} --help)"
    arguments = [one.strip("[].") for one in _arguments(context.command, context)]
    if argument := synonyms.argument(option, arguments):
        return f"{argument} is an argument: {_form(context).removeprefix('Write: ')}"
    return None


def _is_like(option: str, typed: str) -> bool:
    return SequenceMatcher(None, option.strip("-"), typed.strip("-")).ratio() >= _LIKENESS


def _form(context: Context) -> str:
    """How a command is written, with all that it needs, and what does with less."""
    needed = [context.command_path, *_arguments(context.command, context)]
    for param in context.command.get_params(context):
        if param.param_type_name == "option" and param.required:
            needed += [param.opts[0], str(getattr(param, "metavar", None) or "VALUE")]
    less = synonyms.WITH_LESS.get(context.command_path.partition(" ")[2])
    also = f"; {less}" if less else ""
    return f"Write: {' '.join(needed)}{also} (see: {context.command_path} --help)"


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
    if "--description" in options:
        return f"Words about it go behind --description: {context.command_path} … {_QUOTED}"
    if looks_like_date(word):
        if "--date" in options:
            return f"A date goes behind --date: {context.command_path} … --date {word}"
        if "--from" in options:
            return f"Dates go behind --from and --to: {context.command_path} … --from {word}"
    elif "-t" in options:
        return f"Tasks go behind -t: {context.command_path} … -t {word}"
    return None
