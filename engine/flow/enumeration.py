"""Names in a sentence: the first few, and how many more there are."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice


def few(names: Collection[str], shown: int = 10, separator: str = ", ") -> str:
    """The first names, and how many there are beside them: `a, b and 3 more`."""
    text = separator.join(islice(names, shown))
    rest = len(names) - shown
    return f"{text} and {rest} more" if rest > 0 else text
