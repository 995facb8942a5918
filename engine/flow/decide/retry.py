"""When a failed try is followed by another one."""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

MAX_DELAY = 86_400.0
"""No retry waits longer than a day, whatever the task says (Airflow's `max_task_retry_delay`)."""


class RetryPolicy(NamedTuple):
    """The retry arguments of a task; durations in seconds."""

    delay: float = 300.0
    backoff: float = 0.0
    """Multiplier per try; 0 is a fixed delay."""
    cap: float | None = None


def retry_delay(policy: RetryPolicy, try_number: int, seed: str) -> float:
    """Seconds from the end of try `try_number` (from 1) to the start of the next.

    A fixed delay is exact. With backoff the delay is b + (hash mod b), where b = delay ·
    backoff^(try_number − 1) rounded up: uniform in [b, 2b) but the same on every computation of
    the same `seed`, so a thousand tasks that failed together do not return together. Source:
    Airflow 3.3, `TaskInstance.next_retry_datetime`.
    """
    cap = min(MAX_DELAY, policy.cap if policy.cap is not None else MAX_DELAY)
    if not policy.backoff or policy.backoff == 1:
        return min(policy.delay, cap)
    try:
        base = math.ceil(policy.delay * policy.backoff ** (try_number - 1))
    except OverflowError:
        return cap
    base = max(1, base)
    digest = int(
        hashlib.sha1(f"{seed}#{try_number}".encode(), usedforsecurity=False).hexdigest(), 16
    )
    return min(float(base + digest % base), cap)
