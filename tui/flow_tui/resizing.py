"""Another size of the terminal, which reaches the screens also on a busy machine.

Textual gathers sizes for a moment by a timer, and skips a timer that comes too late; then no screen
hears of any size any more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from textual import events

if TYPE_CHECKING:
    from flow_tui.app import FlowApp

_GATHERED: Final = 0.25
"""Seconds after which the screen in front has the size of the terminal, if it ever gets it."""


def make_sure(app: FlowApp) -> None:
    """See to it soon that the screens have the size of the terminal."""
    asyncio.get_running_loop().call_later(_GATHERED, _tell, app)


def _tell(app: FlowApp) -> None:
    if app.is_running and app.screen_stack and app.screen.size != app.size:
        for screen in app.screen_stack:
            screen.post_message(events.Resize(app.size, app.size))
