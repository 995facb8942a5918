"""Marks that a task leaves outside the product; on the path of the tasks of a case.

One line each: seconds of CLOCK_MONOTONIC, host, pid, try, event. Overlaps and double starts are
judged from them, never from the product's own tables.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable

from flow import get_current_context


def mark(event: str, name: str = "marks") -> None:
    """Append one line to the marker file `name`, in one write."""
    number = get_current_context()["ti"].try_number
    line = f"{time.monotonic():.6f} {socket.gethostname()} {os.getpid()} {number} {event}\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    descriptor = os.open(os.path.join(os.environ["CASE_MARKS"], name), flags, 0o666)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def stay(seconds: float, name: str = "marks", until: Callable[[], bool] = lambda: False) -> None:
    """Mark `start`, then `alive` 20 times a second, then `end`; a killed task lacks the end."""
    mark("start", name)
    over = time.monotonic() + seconds
    while time.monotonic() < over and not until():
        time.sleep(0.05)
        mark("alive", name)
    mark("end", name)
