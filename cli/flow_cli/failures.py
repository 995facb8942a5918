"""How errors reach the person or program that typed the command: two lines, or one JSON object."""

from __future__ import annotations

import errno
import sys
from typing import Final, NamedTuple

import typer

from flow.errors import FlowError
from flow.wording.cells import json_text, printable
from flow_cli import exits
from flow_cli.usage import hint_of, sentence_of

SEE_DEBUG = "Run it again with --debug to see the traceback."
_FULL: Final = "Make room there, then run it again."
_MENDS: Final = {
    errno.EACCES: "Run it as a user who may, or name another place.",
    errno.EPERM: "Run it as a user who may, or name another place.",
    errno.EROFS: "Name another place; that of Flow's own files is FLOW_HOME.",
    errno.ENOTDIR: "Name another place; that of Flow's own files is FLOW_HOME.",
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
}
"""What to do about errors of the operating system of which more is known than their name."""


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
        return Failure("usage", sentence_of(error), hint_of(error), exits.USAGE)
    if isinstance(error, typer.Abort):
        return Failure("aborted", "Nothing was changed.", "", exits.USAGE)
    if isinstance(error, UnicodeEncodeError):
        # Bytes of the command line that are no UTF-8 become characters that cannot be encoded.
        return Failure("usage", "the command line is not UTF-8 text", "", exits.USAGE)
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        return Failure("system", what, _MENDS.get(error.errno or 0, SEE_DEBUG), exits.FAILED)
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
