"""Finding things by a few of their letters, in order; the closer together, the better."""

from __future__ import annotations

_BEGINS = frozenset(" _-./")


def score(letters: str, text: str) -> float | None:
    """How well a text fits, higher is better; None: it does not have the letters in this order.

    Letters that follow each other and letters that begin a word count for more, so that `sl` finds
    `sales_load` before `basil`. Letters are compared without case.
    """
    wanted, found = letters.lower().replace(" ", ""), text.lower()
    if not wanted:
        return 0.0
    exact = found.find(wanted)
    if exact >= 0:
        starts = exact == 0 or found[exact - 1] in _BEGINS
        return 1000.0 + (100.0 if starts else 0.0) - exact - len(found) / 1000
    total, at, last = 0.0, 0, -2
    for letter in wanted:
        at = found.find(letter, at)
        if at < 0:
            return None
        total += 3.0 if at == last + 1 else 2.0 if at == 0 or found[at - 1] in _BEGINS else 1.0
        last, at = at, at + 1
    return total - len(found) / 1000
