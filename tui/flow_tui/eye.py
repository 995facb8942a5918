"""The eye on the database: what is shown is read again when something has changed there."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from flow.errors import DatabaseError
from flow_tui import feed, garbage
from flow_tui.feed import Pace
from flow_tui.view import View
from flow_tui.widgets.frame import Banner

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment
    from flow_tui.app import FlowApp


class Eye:
    """Looks at the change counter, as often as its pace says, while somebody looks at the app."""

    def __init__(self, app: FlowApp, pace: Pace) -> None:
        self._app = app
        self._pace = pace
        self._soon = asyncio.Event()
        self.trouble = ""
        """What is wrong with the session, for the banner."""

    async def watch(self) -> None:
        """Have the screen in front read again when something has changed; for ever."""
        while True:
            self._soon.clear()  # before the look: who asks during it wants another one
            if self._app.app_focus:
                await self._look()
            garbage.collect()  # the first screen stands
            with suppress(TimeoutError):
                await asyncio.wait_for(self._soon.wait(), self._wait())

    def look_now(self) -> None:
        """Look at once, and closely for a while: somebody has changed something."""
        self._pace.nudge(time.monotonic())
        self._soon.set()

    def look_again(self) -> None:
        """Look at once: somebody does again."""
        self._soon.set()

    def lost(self, error: DatabaseError) -> None:
        """The database does not answer: say so, and try again by and by."""
        self._pace.failed()
        # First what happens now: a long message is cut at its end.
        self._tell(f"trying again: {error.message} ({error.hint})")

    def _wait(self) -> float | None:
        """Seconds until the next look; nothing is looked at while nobody does."""
        return self._pace.wait(time.monotonic()) if self._app.app_focus else None

    async def _look(self) -> None:
        overdue = self._app.set_timer(feed.OVERDUE, self._overdue)
        try:
            counter = await self._app.session.read(_counter)
        except DatabaseError as error:
            self.lost(error)
            return
        finally:
            overdue.stop()
        if self.trouble:
            self._tell("")
            self._pace.nudge(time.monotonic())
        if self._pace.saw(counter, time.monotonic()) and isinstance(self._app.screen, View):
            self._app.screen.refresh_data()

    def _overdue(self) -> None:
        """The database has not answered yet: say so, unless more is known."""
        if not self.trouble:
            self._tell("the database takes its time: what is shown may be old")

    def _tell(self, trouble: str) -> None:
        self.trouble = trouble
        for screen in self._app.screen_stack:
            for banner in screen.query(Banner):
                banner.text = trouble


def _counter(deployment: Deployment) -> int:
    from flow.ops import changes

    return changes.counter(deployment)
