"""Errors of user code, told to users: without Flow's own frames."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from flow.errors import FlowError

_PACKAGE: Final = str(Path(__file__).resolve().parent.parent) + os.sep
_OWN: Final = (_PACKAGE, "<frozen ")
_HEADER: Final = "Traceback (most recent call last):\n"
_LONGEST: Final = 500
"""Characters of a one-line reason."""


def one_line(error: BaseException) -> str:
    """`Type: text` on one line, with what to do next where Flow itself says it."""
    text = " ".join(str(error).split())
    if isinstance(error, FlowError):
        text = f"{error.message}; {error.hint}" if error.hint else error.message
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


def user_traceback(error: BaseException) -> str:
    """The traceback of an error and of its causes, without Flow's frames.

    An error that came through no line of the user's is shown with all its frames, for then they
    are what there is to see, unless it explains itself.
    """
    summary = traceback.TracebackException.from_exception(error)
    explained = isinstance(error, (FlowError, SyntaxError))
    for part in _chain(summary):
        kept = [frame for frame in part.stack if not frame.filename.startswith(_OWN)]
        if kept or (explained and part is summary):
            part.stack = traceback.StackSummary.from_list(kept)
    text = "".join(summary.format())
    if explained and not summary.stack:
        text = "".join(text.rpartition(_HEADER)[::2])  # its own; those of its causes stay
    hint = f"{error.hint}\n" if isinstance(error, FlowError) and error.hint else ""
    return (text + hint).rstrip("\n")


def line_in(error: BaseException, file: str) -> int | None:
    """The innermost line of `file` that an error came through; None if it did not."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == file
    ]
    return lines[-1] if lines else None


def _chain(
    summary: traceback.TracebackException,
) -> Iterator[traceback.TracebackException]:
    waiting: list[traceback.TracebackException | None] = [summary]
    while waiting:
        part = waiting.pop()
        if part is not None:
            yield part
            waiting += [part.__cause__, part.__context__, *(part.exceptions or ())]
