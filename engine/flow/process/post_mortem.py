"""Looking around, with pdb, in a task that has failed: on the terminal of whoever rehearses it."""

from __future__ import annotations

import os
import pdb
from types import TracebackType

from flow.process.trace import OWN


def look_around(error: BaseException, terminal: str) -> None:
    """Open pdb where `error` was raised, on the device `terminal`; returns when it is left.

    The process has no terminal of its own, and takes none: Ctrl-C still means the command that
    started it. Raises OSError when the device cannot be opened.
    """
    descriptor = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
    with (
        os.fdopen(descriptor, encoding="utf-8", errors="replace", closefd=False) as keyboard,
        os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as screen,
    ):
        debugger = pdb.Pdb(stdin=keyboard, stdout=screen)
        debugger.reset()
        debugger.interaction(None, _from_users_code(error.__traceback__))


def _from_users_code(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the first line that is the user's; all of it if there is none."""
    part = traceback
    while part is not None and part.tb_frame.f_code.co_filename.startswith(OWN):
        part = part.tb_next
    return part or traceback
