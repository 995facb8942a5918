"""Moments as people say them: how long ago, how far ahead.

One unit, the largest: whoever wants more looks at the time itself.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from flow.wording.cells import duration_text

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def length(seconds: float) -> str:
    """A length of time in its largest unit, rounded: 8 s, 4 min, 3 h, 12 d."""
    for unit, name in _UNITS:
        if round(seconds / unit) >= (2 if unit > 60 else 1):
            return f"{round(seconds / unit)} {name}"
    return "0 s"


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """How long something took, in seconds; None while it has not ended."""
    return None if start is None or end is None else (end - start).total_seconds()


def took(start: datetime | None, end: datetime | None) -> str:
    """How long something took, in its two largest units; "" while it has not ended."""
    seconds = seconds_between(start, end)
    return "" if seconds is None else duration_text(seconds)


def lasting(start: datetime | None, end: datetime | None, now: datetime) -> str:
    """How long something took, or has been going on for; "" before it has started."""
    if start is None:
        return ""
    if end is None:
        return f"for {length(max(0.0, (now - start).total_seconds()))}"
    return f"took {took(start, end)}"


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago something was; "" if it never was."""
    if moment is None:
        return ""
    seconds = (now - moment).total_seconds()
    return f"{length(seconds)} ago" if seconds >= 1 else "now"


def ahead(moment: datetime | None, now: datetime) -> str:
    """How far ahead something is, or that it is due; "" if it will not be."""
    if moment is None:
        return ""
    seconds = (moment - now).total_seconds()
    return f"in {length(seconds)}" if seconds >= 1 else "due"
