"""One start/stop skeleton for all roles.

A role is a loop: do everything that is due, then wait for a notification, a file descriptor, a due
time or a signal, whichever comes first. When the database goes away the loop reconnects with
jittered backoff; that is not an error of the role and ends nothing.
"""

from __future__ import annotations

import logging
import random
import selectors
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

from flow.roles.bell import Bell
from flow.roles.service_manager import NOBODY, ServiceManager
from flow.store.connect import (
    COLLISIONS,
    OUTAGES,
    STATEMENT_TIMEOUT,
    TOO_LONG,
    shorten_waits,
)

log = logging.getLogger(__name__)

POLL: Final = 1.0
"""Seconds after which a role looks at the database without having been told to."""
FIRST_PAUSE: Final = 0.2
"""Seconds between the first failure of something and the next attempt, at most."""
LONGEST_PAUSE: Final = 5.0
"""Seconds between two attempts, at most."""
_LEAST_PATIENCE: Final = 5.0
_LAST_PATIENCE: Final = 5.0
"""Seconds for which a role that is to end at once waits for an answer of the database."""


class Stop:
    """Whether a role was asked to stop: once is to drain, twice is at once.

    It belongs in the role's selector, so that a wait ends when a signal comes.
    """

    def __init__(self, *, drains: bool = False) -> None:
        self.count = 0
        self._drains = drains
        """Whether the first request leaves time to finish what was begun."""
        self._bell = Bell()

    def install(self) -> Stop:
        """Handle SIGTERM and SIGINT in this process."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        return self

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.ask()
        if self.count > self._drains:
            shorten_waits(_LAST_PATIENCE)

    def ask(self) -> None:
        """Ask to stop; a second call asks to stop at once."""
        self.count += 1
        self._bell.ring()

    def fileno(self) -> int:
        """Readable once a stop was asked for since the last `drain`."""
        return self._bell.fileno()

    def drain(self) -> None:
        """Be readable no more until the next request; that a stop was asked for stays."""
        self._bell.silence()

    def __bool__(self) -> bool:
        return self.count > 0


def wait(selector: selectors.BaseSelector, seconds: float) -> list[selectors.SelectorKey]:
    """Wait until something in `selector` is ready, at most `seconds`."""
    return [key for key, _ in selector.select(max(0.0, seconds))]


class Backoff:
    """Pauses between attempts: each up to twice as long as the one before, none the same in two
    processes, so that they do not all come back at once. `longest` is in seconds."""

    def __init__(self, longest: float = LONGEST_PAUSE) -> None:
        self._longest = longest
        self._pause = FIRST_PAUSE

    def pause(self) -> float:
        """Seconds to wait before the next attempt."""
        seconds = self._pause * random.uniform(0.5, 1.0)
        self._pause = min(self._pause * 2, self._longest)
        return seconds

    def reset(self) -> None:
        """An attempt has succeeded: begin with short pauses again."""
        self._pause = FIRST_PAUSE


def reason_of(error: Exception) -> str:
    """What an error of the database says, in one line."""
    text = str(error).strip()
    return text.splitlines()[0] if text else repr(error)


def log_failure(name: str, error: Exception) -> None:
    """Say why a role has to try again: an outage, or a transaction that the server has ended."""
    what = "the database does not answer"
    if isinstance(error, COLLISIONS):
        what = "a transaction stood in the way of another one"
    elif isinstance(error, TOO_LONG):
        what = "a statement took too long"
    log.warning("%s: %s (%s); trying again", name, what, reason_of(error))


def patience(lost_after: float) -> float:
    """Seconds that a statement of a role may take which is lost after so many.

    A line that stands still is given up, and another one found, well before.
    """
    return min(STATEMENT_TIMEOUT, max(_LEAST_PATIENCE, lost_after / 5))


def awaiting() -> str:
    """The status of a role that has no database."""
    return "waiting for the database"


def keep_going(
    name: str, stop: Stop, session: Callable[[], None], manager: ServiceManager = NOBODY
) -> None:
    """Run `session` until it returns; start it anew whenever the database went away.

    `session` connects, works and returns when `stop` was asked for. Any other error ends the role:
    a schema that does not fit does not change by waiting.
    """
    backoff = Backoff()
    while True:
        began = time.monotonic()
        manager.progress(awaiting)
        try:
            session()
        except OUTAGES as error:
            if time.monotonic() - began > LONGEST_PAUSE:
                backoff.reset()
            log_failure(name, error)
        else:
            return
        if stop:
            return
        with selectors.DefaultSelector() as selector:
            selector.register(stop, selectors.EVENT_READ)
            wait(selector, backoff.pause())
        if stop:
            return
