"""How states look: a symbol, a letter where the encoding lacks the symbol, and a colour.

The colour only repeats what symbol and word say.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Look(NamedTuple):
    """A state's symbol, its letter, and its rich style."""

    symbol: str
    letter: str
    style: str


LOOKS: Final = {
    "none": Look("·", ".", "dim"),
    "scheduled": Look("○", "o", "cyan"),
    "queued": Look("◔", "q", "cyan"),
    "running": Look("▶", ">", "bold blue"),
    "success": Look("✓", "+", "green"),
    "failed": Look("✗", "X", "bold red"),
    "skipped": Look("»", "s", "magenta"),
    "up_for_retry": Look("↻", "r", "yellow"),
    "up_for_reschedule": Look("↷", "R", "yellow"),
    "deferred": Look("…", "d", "blue"),
    "awaiting_input": Look("?", "?", "bold yellow"),
    "restarting": Look("↺", "z", "yellow"),
    "upstream_failed": Look("⊘", "u", "red"),
    "removed": Look("−", "-", "dim"),
}

# Ends of tries and states of processes that are not states of tasks.
_MORE: Final = {
    "lost": "yellow",
    "lease_expired": "yellow",
    "drained": "yellow",
    "code_mismatch": "yellow",
    "restarted": "yellow",
    "yes": "green",
    "no": "red",
}


def style_of(state: str) -> str:
    """The style of a state's word; what stands behind a comma adds nothing to it."""
    word = state.partition(",")[0]
    look = LOOKS.get(word)
    return look.style if look else _MORE.get(word, "")


def can_write_symbols(encoding: str | None) -> bool:
    """Whether every symbol of a state exists in the encoding of a stream."""
    return can_write("".join(look.symbol for look in LOOKS.values()), encoding or "ascii")


def can_write(text: str, encoding: str) -> bool:
    """Whether a text exists in an encoding; nothing does in one that is not known."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
