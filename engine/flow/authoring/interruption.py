"""When a stop may interrupt the code of a task: any time, except where it holds it back.

An operator that starts something knows it only afterwards. A stop between the two would call an
`on_kill` that does not know what to end. The signal itself is not blocked there: what is started
would inherit that, and never hear of a stop. Its handler is, as Python runs it in the main thread
between two instructions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_held = False
_due: Callable[[], object] | None = None


@contextmanager
def held_back() -> Iterator[None]:
    """Within the block no stop strikes; one that was due strikes at its end.

    Keep it short: a stop that comes too late is followed by SIGKILL. In other threads than the main
    one it changes nothing, since there no stop strikes.
    """
    global _held, _due  # one process, one task
    if _held or threading.current_thread() is not threading.main_thread():
        yield
        return
    _held = True
    try:
        yield
    finally:
        _held = False
        due, _due = _due, None
        if due is not None:
            due()


def strike(action: Callable[[], object]) -> None:
    """Do now what interrupts the task, or at the end of the block that holds it back.

    For the handler of a signal, and so for the main thread.
    """
    global _due  # one process, one task
    if _held:
        _due = action
    else:
        action()
