"""Names of signals, for people."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str | None:
    """`SIGKILL` for 9; None for a number without a name, as most real-time signals are."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return None
