"""What an import may use, and what it says where that, or a crash, ends it.

Its supervisor kills it in any case once its time is up. This here is what a process can only do to
itself: a limit on CPU, for a supervisor that stands still; no core files; and a look at the place
that it has reached, printed by the signal handler itself, so that it works within C code too.
"""

from __future__ import annotations

import faulthandler
import math
import resource
import signal
from typing import Final

_LAST_LOOK: Final = 0.25
"""Share of the time limit before its end at which the place is printed, …"""
_AT_MOST: Final = 1.0
"""… and seconds before it, at most."""
_TO_DIE: Final = 5
"""Seconds of CPU between SIGXCPU and SIGKILL."""
_OUTPUT: Final = 2


def apply(timeout: float | None) -> None:
    """Limit this process, which serves one import only; None: only tell of crashes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable(_OUTPUT, all_threads=False)
    if timeout is None:
        return
    # Beyond the time limit: a supervisor that does not stand still strikes first, and alone.
    seconds = math.floor(timeout) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or hard > seconds + _TO_DIE:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + _TO_DIE))
    faulthandler.register(signal.SIGXCPU, _OUTPUT, all_threads=False, chain=True)
    faulthandler.register(signal.SIGALRM, _OUTPUT, all_threads=False)
    signal.setitimer(signal.ITIMER_REAL, timeout - min(_AT_MOST, timeout * _LAST_LOOK))


def lift() -> None:
    """The import is over: what follows is Flow's own."""
    signal.setitimer(signal.ITIMER_REAL, 0)
