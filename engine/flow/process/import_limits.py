"""What an import may use, and what it says where that, or a crash, ends it.

Its supervisor kills it in any case once its time is up. This here is what a process can only do to
itself: a limit on CPU, for a supervisor that stands still; no core files; and a look at the place
that it has reached, printed by the signal handler itself, so that it works within C code too.
"""

from __future__ import annotations

from faulthandler import enable, register
from math import floor
from resource import RLIM_INFINITY, RLIMIT_CORE, RLIMIT_CPU, getrlimit, setrlimit
from signal import ITIMER_REAL, SIGALRM, SIGXCPU, setitimer
from typing import Final

_LAST_LOOK: Final = 0.25
"""Share of the time limit before its end at which the place is printed, …"""
_AT_MOST: Final = 1.0
"""… and seconds before it, at most."""
_TO_DIE: Final = 5
"""Seconds of CPU between SIGXCPU and SIGKILL."""
_OUTPUT: Final = 2


def limit_import(timeout: float | None) -> None:
    """Limit this process, which serves one import only; None: only tell of crashes."""
    setrlimit(RLIMIT_CORE, (0, 0))
    enable(_OUTPUT, all_threads=False)
    if timeout is None:
        return
    # Beyond the time limit: a supervisor that does not stand still strikes first, and alone.
    seconds = floor(timeout) + 1
    _, hard = getrlimit(RLIMIT_CPU)
    if hard == RLIM_INFINITY or hard > seconds + _TO_DIE:
        setrlimit(RLIMIT_CPU, (seconds, seconds + _TO_DIE))
    register(SIGXCPU, _OUTPUT, all_threads=False, chain=True)
    register(SIGALRM, _OUTPUT, all_threads=False)
    setitimer(ITIMER_REAL, timeout - min(_AT_MOST, timeout * _LAST_LOOK))


def lift_limits() -> None:
    """The import is over: what follows is Flow's own."""
    setitimer(ITIMER_REAL, 0)
