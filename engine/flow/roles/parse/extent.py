"""How many folders there are to be watched, and which links lead to too many of them.

The kernel's watch follows every link, through whatever tree is behind it, in one call that nothing
interrupts and during which the process does nothing else. So the same way is gone first, and no
further than allowed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

MOST: Final = 20_000
"""Folders that are watched: a few seconds, and a tenth of what kernels allow."""

_Identity = tuple[int, int]


class Extent(NamedTuple):
    """What is to be watched."""

    folders: list[str]
    """All of it, with what lies behind links."""
    left_out: list[str]
    """Links, and DAG folders, that more folders lie behind or in than can be watched."""


class _Place(NamedTuple):
    """A folder on the way, the outermost link that led there, and the folders above it."""

    path: str
    origin: str
    above: tuple[_Identity, ...]


def measure(roots: Sequence[str], given_up: Callable[[], bool]) -> Extent:
    """What is to be watched of some DAG folders; without the links with the most, if need be.

    `given_up` is asked at each folder, and ends it at once.
    """
    left_out: set[str] = set()
    while True:
        folders: list[str] = []
        behind: Counter[str] = Counter()
        for place in _walk([root for root in roots if root not in left_out], left_out):
            folders.append(place.path)
            behind[place.origin] += 1
            if len(folders) > MOST or given_up():
                break
        if len(folders) <= MOST or given_up():
            return Extent(folders, sorted(left_out))
        links = Counter({link: n for link, n in behind.items() if link not in roots})
        left_out.add((links or behind).most_common(1)[0][0])


def _walk(roots: Sequence[str], left_out: set[str]) -> Iterator[_Place]:
    """The folders, and what lies behind links last.

    A folder counts as often as it is reached, but not below itself.
    """
    waiting = [_Place(root, root, ()) for root in roots]
    behind_links: list[_Place] = []
    while waiting or behind_links:
        if not waiting:
            waiting.append(behind_links.pop())
        place = waiting.pop()
        try:
            status = os.stat(place.path)  # noqa: PTH116 - thousands of them
            identity = status.st_dev, status.st_ino
            if identity in place.above:
                continue
            with os.scandir(place.path) as listing:
                entries = [entry for entry in listing if _is_folder(entry)]
        except OSError:
            continue
        yield place
        above = (*place.above, identity)
        for entry in entries:
            if entry.path in left_out:
                continue
            if entry.is_symlink() and place.origin in roots:
                behind_links.append(_Place(entry.path, entry.path, above))
            else:
                waiting.append(_Place(entry.path, place.origin, above))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # such as a link to itself
