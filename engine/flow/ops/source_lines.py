"""Lines of a DAG file around the one that is wrong, as the file stands on this host now."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

MOST: Final = 2_000
"""Characters of a line that are kept."""


class SourceLines(NamedTuple):
    """`lines` with the number of the first of them, and when the file was last changed."""

    first: int
    lines: list[str]
    changed_at: datetime


def around(path: str, line: int | None, context: int) -> SourceLines | None:
    """`context` lines before and after a line; from the start where none is known.

    None where this host has no such file, or does not let us read it: the DAG processor may have
    run on another one.
    """
    first = max(1, (line or 1) - context)
    last = (line or 1) + context
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            lines = [one.rstrip("\n")[:MOST] for one in islice(file, first - 1, last)]
            changed = datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)
    except (OSError, ValueError):
        return None
    return SourceLines(first, lines, changed)
