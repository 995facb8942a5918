"""How much a worker takes at a time, how long it waits, and whether its host has memory."""

from __future__ import annotations

from typing import Final

import psutil

AT_ONCE: Final = 64
"""Tasks and callbacks claimed in one transaction."""
EXIT_PATIENCE: Final = 5.0
"""Seconds in which a process that has said its last word must be dead, else it is killed."""
CALLBACK_PAUSE: Final = 1.0
"""Seconds between two times that callbacks are taken before the tasks that keep coming."""
ZYGOTE_CONTINUED: Final = 3
"""Times that a zygote which somebody keeps stopping is continued before it is killed: that ends
every try here, and a stop may be a mistake of one of them."""


def memory_allows(part: float) -> bool:
    """Whether at least `part` (0 to 1) of the host's memory is available."""
    memory = psutil.virtual_memory()
    return bool(memory.available >= memory.total * part)
