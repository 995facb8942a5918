"""Looking for garbage, put off until the first paint.

What is imported stays: looking through it again and again is a fifth of the time to that paint.
"""

from __future__ import annotations

import gc


def put_off() -> None:
    """From now on, look for none."""
    gc.disable()


def collect() -> None:
    """From now on, look for it where that was put off; what is there by now stays."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
