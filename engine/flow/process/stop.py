"""What SIGTERM does to a process that runs user code.

The first one calls the operator's `on_kill`, bounded in time, and then raises `Stopped` wherever
the main thread is; where an interruption is held back, at the end of that. `Stopped` is no
`Exception`, so `except Exception` lets it pass, and `finally` and `with` clean up on the way. At
the end the process dies by the signal, without an outcome: who asked for the stop knows how the try
ends. Code that swallows even `Stopped` dies when it returns, or by SIGKILL when the supervisor's
patience is over.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

from flow.authoring import interruption
from flow.process import output, trace

ON_KILL_SECONDS: Final = 20.0
"""Longest that `on_kill` may take; less than the usual time between SIGTERM and SIGKILL, 30 s."""

_log = logging.getLogger("flow.task")


class Stopped(BaseException):
    """The process was told to stop."""


class _TooLong(BaseException):
    """The time for `on_kill` is over."""


class Stop:
    """The handler of SIGTERM, and whether one has come."""

    def __init__(self, patience: float = ON_KILL_SECONDS) -> None:
        self.requested = False
        self._patience = patience
        self._on_kill: Callable[[], object] | None = None

    def install(self) -> None:
        """Handle SIGTERM from now on, until it is released. Main thread only.

        A fork that user code makes does not inherit the meaning: a worker of its process pool is
        told to end by SIGTERM too. There the signal gets its default action back, and is held
        back meanwhile, because Python forgets what a new fork receives before it is ready.
        """
        _forks.guard(self._handle)
        signal.signal(signal.SIGTERM, self._handle)

    @contextmanager
    def killing(self, on_kill: Callable[[], object]) -> Iterator[None]:
        """Within the block, a stop calls `on_kill`."""
        self._on_kill = on_kill
        try:
            yield
        finally:
            self._on_kill = None

    def release(self) -> None:
        """From now on SIGTERM ends the process at once: its work is done and told."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _forks.leave()

    def check(self) -> None:
        """Raise `Stopped` if a stop was asked for and user code has swallowed it."""
        if self.requested:
            raise Stopped

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            return
        self.requested = True
        interruption.strike(self._strike)

    def _strike(self) -> NoReturn:
        _log.warning("Told to stop (SIGTERM)")
        if self._on_kill is not None:
            self._clean_up(self._on_kill)
        raise Stopped

    def _clean_up(self, on_kill: Callable[[], object]) -> None:
        # In the main thread, not in one of its own: what was interrupted may hold a lock, and
        # most locks that on_kill could meet (logging's) let the same thread in again.
        before = signal.signal(signal.SIGALRM, _raise_too_long)
        try:
            signal.setitimer(signal.ITIMER_REAL, self._patience)
            on_kill()
        except _TooLong:
            _log.error("on_kill did not end within %g s; stopping anyway", self._patience)
        except BaseException as error:
            _log.error("on_kill failed\n%s", trace.user_traceback(error))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before or signal.SIG_DFL)


class _Forks:
    """What forks of this process do about SIGTERM, as long as it is handled.

    Python never forgets a function that is to be called at forks, so there is one set of them.
    """

    def __init__(self) -> None:
        self._registered = False
        self._handler: Callable[..., object] | None = None
        self._masks: dict[int, set[int | signal.Signals]] = {}
        """The mask of each thread that forks just now."""

    def guard(self, handler: Callable[..., object]) -> None:
        """Keep the handler out of forks from now on."""
        self._handler = handler
        if not self._registered:
            self._registered = True
            os.register_at_fork(
                before=self._hold_back,
                after_in_parent=self._let_through,
                after_in_child=self._forget,
            )

    def leave(self) -> None:
        """Let forks be: nothing is handled any more."""
        self._handler = None

    def _hold_back(self) -> None:
        if self._handler is not None:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            self._masks[threading.get_ident()] = before

    def _let_through(self) -> None:
        before = self._masks.pop(threading.get_ident(), None)
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _forget(self) -> None:
        handler, self._handler = self._handler, None
        if handler is not None and signal.getsignal(signal.SIGTERM) == handler:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._let_through()
        self._masks.clear()


_forks: Final = _Forks()


def _raise_too_long(number: int, frame: FrameType | None) -> NoReturn:
    raise _TooLong


def die() -> NoReturn:
    """Die by SIGTERM, as if it had never been handled."""
    output.flush()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)
    # Only a thread that has the signal blocked gets here before it strikes.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    os._exit(128 + signal.SIGTERM)
