"""Texts that are given on the command line, in a file, or on the standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import overload

from flow.errors import UsageError

STANDARD_INPUT = "-"


@overload
def given(text: str) -> str: ...
@overload
def given(text: None) -> None: ...
def given(text: str | None) -> str | None:
    """The text itself; for `@FILE` what the file holds, for `@-` the standard input.

    None for an option that was left out. Raises `UsageError`.
    """
    return read(text.removeprefix("@")) if text is not None and text.startswith("@") else text


def read(name: str) -> str:
    """All of a file, or of the standard input for `-`. Raises `UsageError`."""
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.read()
        return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}", "name another file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text", "save it as UTF-8") from None


def terminal_of_input(option: str) -> str:
    """The device of the terminal that the command reads from. Raises `UsageError` without one."""
    import os

    try:
        return os.ttyname(sys.stdin.fileno())
    except (OSError, ValueError):
        raise UsageError(
            f"{option} needs a terminal to talk on",
            "run it in one, without a pipe before it",
        ) from None


def write_private(name: str, text: str) -> None:
    """Write a new file that only its owner can read. Raises `UsageError` when it exists."""
    import os

    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(
            f"{name} cannot be written: {error.strerror}", "name a file that does not exist yet"
        ) from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
