"""How many colours the terminal has, by what it says of itself."""

from __future__ import annotations

import curses
import os
import sys
from collections.abc import MutableMapping
from contextlib import suppress


def heed(environ: MutableMapping[str, str] = os.environ) -> bool:
    """Whether the terminal has sixteen colours at most.

    One without any is drawn on as `NO_COLOR` asks for, which is set for that.
    """
    from rich.console import Console

    if _has_none(environ):
        environ["NO_COLOR"] = "1"
    return Console(force_terminal=True).color_system == "standard"


def _has_none(environ: MutableMapping[str, str]) -> bool:
    """Whether the terminal is known, and known to have no colours."""
    if environ.get("COLORTERM"):
        return False
    with suppress(curses.error):  # not known here: most have colours
        curses.setupterm(fd=sys.stdout.fileno())
        return curses.tigetnum("colors") < 1
    return False
