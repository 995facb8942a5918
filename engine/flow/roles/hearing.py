"""What a role hears of others. It comes sooner by it, and does without while the line is lost."""

from __future__ import annotations

import logging
import selectors
import time
from typing import Final

from flow.roles.loop import Backoff, reason_of
from flow.store.connect import OUTAGES
from flow.store.notify import Listener

log = logging.getLogger(__name__)

_LONGEST_PAUSE: Final = 60.0
"""Seconds between two attempts: each may take as long as a server takes that does not answer."""


class Hearing:
    """A listener in a selector, under a key whose data is this object; another when it is lost.

    A listener that cannot be had is no outage: the role polls meanwhile.
    """

    def __init__(
        self, dsn: str, channels: tuple[str, ...], selector: selectors.BaseSelector
    ) -> None:
        self._dsn = dsn
        self._channels = channels
        self._selector = selector
        self._listener: Listener | None = None
        self._next_try = 0.0
        self._backoff = Backoff(_LONGEST_PAUSE)

    def keep(self) -> set[str]:
        """Open a listener where there is none and it is time, and look whether the one works.

        Returns the channels on which something may have been missed: a new listener has missed all.
        """
        try:
            if self._listener is not None:
                self._listener.ask()
            elif time.monotonic() >= self._next_try:
                self._listener = Listener(self._dsn, self._channels)
                self._selector.register(self._listener, selectors.EVENT_READ, self)
                return set(self._channels)
        except OUTAGES as error:
            self._lose(error)
        return set()

    def hear(self) -> set[str]:
        """The channels notified since the last call."""
        if self._listener is None:
            return set()
        try:
            channels = self._listener.drain()
        except OUTAGES as error:
            self._lose(error)
            return set()
        self._backoff.reset()
        return channels

    def close(self) -> None:
        """Close the listener; closing twice is legal."""
        if self._listener is not None:
            self._selector.unregister(self._listener)
            self._listener.close()
            self._listener = None

    def _lose(self, error: Exception) -> None:
        log.warning("notifications do not come (%s); polling meanwhile", reason_of(error))
        self.close()
        self._next_try = time.monotonic() + self._backoff.pause()
