"""Commands to paste into a shell."""

from __future__ import annotations

import shlex


def command(*words: str | None) -> str:
    """A `flow` command; words that are None are left out."""
    return shlex.join(("flow", *(word for word in words if word is not None)))
