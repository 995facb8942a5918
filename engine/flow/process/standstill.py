"""A zygote that stands still, because somebody has stopped it: found out, and mended.

Every job can do that to its parent (SIGSTOP). Such a zygote starts nothing, tells of no death and
ends nothing when its lease runs out, while its supervisor goes on as ever. One that a freezer of
control groups or a debugger holds is not meant: whoever does that lets it go on.
"""

from __future__ import annotations

import logging
import time
from typing import Final

from flow.process.host import Host

INTERVAL: Final = 1.0
"""Seconds between two looks, at least."""
_CERTAIN: Final = 2
"""Looks running that find it stopped, after which something is done: when a whole service is
continued, its processes go on one after the other."""

log = logging.getLogger(__name__)


class Standstill:
    """Looks whether the zygote of `host` has been stopped; the caller says when there is time to.

    When it is certain, the zygote is continued (SIGCONT), and again whenever one of the next looks
    finds it stopped, in all `continued` times; then it is killed, and all its jobs with it.
    """

    def __init__(self, host: Host, *, continued: int = 0) -> None:
        self._host = host
        self._continued = continued
        self._found = 0
        self.look_at = 0.0
        """When the next look is due, in seconds of CLOCK_MONOTONIC."""

    def look(self) -> None:
        """Look, if it is time to, and do what there is to be done."""
        now = time.monotonic()
        if now < self.look_at:
            return
        self.look_at = now + INTERVAL
        self._found = self._found + 1 if self._host.frozen else 0
        if self._found >= _CERTAIN + self._continued:
            self._kill()
        elif self._found >= _CERTAIN:
            self._continue()

    def forget(self) -> None:
        """There is nobody who could have stopped it: what was found does not count."""
        self._found = 0

    def _continue(self) -> None:
        if self._found == _CERTAIN:
            log.warning(
                "the zygote (pid %s) was found stopped (SIGSTOP), maybe by one of its own jobs:"
                " continued it (SIGCONT)",
                self._host.zygote,
            )
        self._host.thaw()

    def _kill(self) -> None:
        log.error(
            "the zygote (pid %s) is kept stopped (SIGSTOP), maybe by one of its own jobs:"
            " killing it, with all its jobs",
            self._host.zygote,
        )
        self._found = 0
        self._host.kill()
