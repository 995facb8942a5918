"""Whether this host has memory to spare."""

from __future__ import annotations

import psutil


def memory_allows(part: float) -> bool:
    """Whether at least `part` (0 to 1) of the host's memory is available."""
    memory = psutil.virtual_memory()
    return bool(memory.available >= memory.total * part)
