"""Waiting for what a test expects, with a guard against hanging.

A test never sleeps for a fixed time: it looks until the thing is there. Limits only end a test that
would hang; FLOW_TEST_PATIENCE (default 1) stretches all of them on a slow or busy machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE = float(os.environ.get("FLOW_TEST_PATIENCE", "1"))


def limit(seconds: float) -> float:
    """A limit in seconds, stretched by FLOW_TEST_PATIENCE."""
    return seconds * PATIENCE


def wait_until(
    condition: Callable[[], Found], what: str, *, seconds: float = 30.0, pause: float = 0.02
) -> Found:
    """Ask `condition` until its answer is true, and return the answer.

    Looks every `pause` seconds. Fails the test, naming `what`, after `seconds` of patience.
    """
    deadline = time.monotonic() + limit(seconds)
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {limit(seconds):.0f} s for: {what}")
        time.sleep(pause)
