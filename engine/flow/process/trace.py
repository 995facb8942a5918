"""Errors of user code, told to users: without Flow's own frames."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from flow.errors import FlowError
from flow.exceptions import CommandFailed

_PACKAGE: Final = str(Path(__file__).resolve().parent.parent) + os.sep
OWN: Final = (_PACKAGE, "<frozen ")
"""How names of files begin that are not the user's."""
_HEADER: Final = "Traceback (most recent call last):\n"
_NO_NAME: Final = re.compile(r"cannot import name '(\w+)' from '")
_LONGEST: Final = 500
"""Characters of a one-line reason."""


def one_line(error: BaseException) -> str:
    """`Type: text` on one line, with what to do next where Flow itself says it."""
    text = " ".join(said_by(error).split())
    if isinstance(error, FlowError):
        text = f"{error.message}; {error.hint}" if error.hint else error.message
    said = sendable(f"{type(error).__name__}: {text}" if text else type(error).__name__)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


def said_by(error: BaseException) -> str:
    """The text of an error, whose class is the user's and may be unable to tell it."""
    try:
        return str(error)
    except Exception as another:
        return f"(its text cannot be told: {type(another).__name__})"


def sendable(text: str) -> str:
    """A text of the user's as a message can hold it: halves of surrogate pairs are escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def with_place(error: BaseException, file: str, root: str) -> str:
    """`one_line`, and the place in the DAG folder `root` if that is not in `file` itself.

    Of modules that import each other it is the whole circle.
    """
    said = one_line(error)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(root + os.sep) or frame.filename == file
    ]
    if "partially initialized module" in said:
        places = [frame for frame in frames if frame.name == "<module>"]
        circle = " → ".join(f"{Path(one.filename).name}:{one.lineno}" for one in places)
        return f"{said}; the circle is {circle}" if len(places) > 1 else said
    if isinstance(error, SyntaxError) and error.filename:
        place = (error.filename, error.lineno)
    elif frames:
        place = (frames[-1].filename, frames[-1].lineno)
    else:
        return said
    named = f"{place[0]}:{place[1]}"
    told = place[0] == file or re.search(re.escape(named) + r"(?!\d)", said)
    return said if told else f"{said} ({named})"


def user_traceback(error: BaseException) -> str:
    """The traceback of an error and of its causes, without Flow's frames.

    An error that came through no line of the user's is shown with all its frames, for then they
    are what there is to see, unless it explains itself.
    """
    summary = traceback.TracebackException.from_exception(error)
    explained = isinstance(error, (FlowError, SyntaxError, CommandFailed)) or (
        isinstance(error, OSError) and error.filename is not None
    )
    for part in _chain(summary):
        kept = [frame for frame in part.stack if not frame.filename.startswith(OWN)]
        if kept or (explained and part is summary):
            part.stack = traceback.StackSummary.from_list(kept)
    text = "".join(summary.format())
    if explained and not summary.stack:
        text = "".join(text.rpartition(_HEADER)[::2])  # its own; those of its causes stay
    hint = f"{error.hint}\n" if isinstance(error, FlowError) and error.hint else ""
    return sendable((text + hint).rstrip("\n"))


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


def lacked_modules(error: BaseException) -> tuple[str, ...]:
    """Names of the modules that an error, or what it came from, could not find."""
    names: dict[str, None] = {}
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            if isinstance(one, ModuleNotFoundError) and one.name:
                names[one.name] = None
            elif isinstance(one, ImportError) and (name := _name_not_found(one)):
                names[name] = None
            waiting += [one.__cause__, one.__context__]
    return tuple(names)


def lacked_name(error: ImportError) -> str | None:
    """The `name` that `from package import name` did not find."""
    found = _NO_NAME.match(said_by(error))
    return found[1] if found else None


def _name_not_found(error: ImportError) -> str | None:
    """What `from package import name` lacked, if it may be a module: `package.name`."""
    name = lacked_name(error)
    return f"{error.name}.{name}" if name and error.name else None


def _chain(
    summary: traceback.TracebackException,
) -> Iterator[traceback.TracebackException]:
    waiting: list[traceback.TracebackException | None] = [summary]
    while waiting:
        part = waiting.pop()
        if part is not None:
            yield part
            waiting += [part.__cause__, part.__context__, *(part.exceptions or ())]
