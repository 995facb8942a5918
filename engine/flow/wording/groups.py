"""Headings of groups in lists of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

INDENT = "  "


def entered(before: Sequence[str], now: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The groups that begin between two tasks, with their depth, from the groups of both.

    Groups are given outermost first.
    """
    same = True
    for depth, group in enumerate(now):
        same = same and depth < len(before) and before[depth] == group
        if not same:
            yield depth, group
