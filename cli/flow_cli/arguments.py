"""What can be said about the command line before it is parsed.

Two things cannot wait for the parser: whether errors are to be JSON (the parser itself may be what
fails), and global options that stand behind the command, where most people type them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

END_OF_OPTIONS = "--"
GLOBAL_FLAGS = frozenset({"--debug"})
GLOBAL_OPTIONS = frozenset({"--config", "--deployment"})
_OUTPUT_OPTIONS = ("-o", "--output", "--format")
_JSON_FORMATS = frozenset({"json", "jsonl"})


class DeploymentChoice(NamedTuple):
    """Which deployment a command line is about, as its global options say it."""

    config_file: Path | None = None
    name: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The options that say the same on another command line."""
        file = ("--config", str(self.config_file)) if self.config_file is not None else ()
        return (*file, *(("--deployment", self.name) if self.name is not None else ()))


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for JSON, as far as it can be told without parsing it."""
    asked = False
    options = _before_end_of_options(arguments)
    for position, argument in enumerate(options):
        if argument in _OUTPUT_OPTIONS:
            asked = options[position + 1 : position + 2] in (["json"], ["jsonl"])
        elif argument.startswith(("--output=", "--format=")):
            asked = argument.partition("=")[2] in _JSON_FORMATS
        elif argument.startswith("-o"):
            asked = argument.removeprefix("-o").removeprefix("=") in _JSON_FORMATS
    return asked


def wants_debug(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for tracebacks."""
    return "--debug" in _before_end_of_options(arguments)


def globals_first(arguments: Sequence[str]) -> list[str]:
    """The same command line with its global options in front of the command.

    A value that looks like a global option is written with an equals sign: `--grep=--debug`.
    """
    options = _before_end_of_options(arguments)
    front: list[str] = []
    rest: list[str] = []
    remaining = iter(options)
    for argument in remaining:
        if argument in GLOBAL_FLAGS or argument.partition("=")[0] in GLOBAL_OPTIONS:
            front.append(argument)
            if argument in GLOBAL_OPTIONS:
                front.extend(value for value in [next(remaining, None)] if value is not None)
        else:
            rest.append(argument)
    return front + rest + list(arguments[len(options) :])


def split_deployment(words: Sequence[str]) -> tuple[DeploymentChoice, list[str]]:
    """The global options with which a command line begins, and what follows. No parser's work."""
    chosen = DeploymentChoice()
    rest = list(words)
    while rest and rest[0].partition("=")[0] in GLOBAL_OPTIONS:
        option, assigned, value = rest.pop(0).partition("=")
        if not assigned and rest:
            value = rest.pop(0)
        if option == "--config":
            chosen = chosen._replace(config_file=Path(value))
        else:
            chosen = chosen._replace(name=value)
    return chosen, rest


def _before_end_of_options(arguments: Sequence[str]) -> list[str]:
    end = arguments.index(END_OF_OPTIONS) if END_OF_OPTIONS in arguments else len(arguments)
    return list(arguments[:end])
