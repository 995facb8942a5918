"""How errors reach the person or program that typed the command: two lines, or one JSON object."""

from __future__ import annotations

import sys
from typing import NamedTuple

import typer

from flow.errors import FlowError
from flow.wording.cells import json_text, printable
from flow_cli import exits

SEE_DEBUG = "Run it again with --debug to see the traceback."


class Failure(NamedTuple):
    """What is told about an error."""

    code: str
    message: str
    hint: str
    exit_code: int


def failure_of(error: BaseException) -> Failure:
    """What to tell about any error that ended a command."""
    if isinstance(error, FlowError):
        return Failure(error.code, error.message, error.hint, error.exit_code)
    if isinstance(error, typer.TyperException):
        return Failure("usage", _sentence(error), _usage_hint(error), exits.USAGE)
    if isinstance(error, typer.Abort):
        return Failure("aborted", "Nothing was changed.", "", exits.USAGE)
    if isinstance(error, UnicodeEncodeError):
        # Bytes of the command line that are no UTF-8 become characters that cannot be encoded.
        return Failure("usage", "the command line is not UTF-8 text", "", exits.USAGE)
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        return Failure("system", what, SEE_DEBUG, exits.FAILED)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Failure("bug", f"Flow has a bug: {what}", SEE_DEBUG, exits.FAILED)


def report(failure: Failure, *, as_json: bool) -> None:
    """Write a failure to stderr."""
    if as_json:
        error = {"code": failure.code, "message": failure.message, "hint": failure.hint}
        text = json_text({"error": error}, sys.stderr)
    else:
        text = "\n".join(printable(line) for line in (failure.message, failure.hint) if line)
    sys.stderr.write(text + "\n")


def _sentence(error: typer.TyperException) -> str:
    return " ".join(error.format_message().split())


def _usage_hint(error: typer.TyperException) -> str:
    context: typer.Context | None = getattr(error, "ctx", None)
    return f"See: {context.command_path} --help" if context else "See: flow --help"
