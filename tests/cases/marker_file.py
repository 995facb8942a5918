"""Reading what tasks marked, and judging it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path


@dataclass(frozen=True)
class Mark:
    """One line that a task wrote; `at` is in seconds of CLOCK_MONOTONIC."""

    at: float
    host: str
    pid: int
    try_number: int
    event: str


@dataclass(frozen=True)
class Life:
    """One process of a task, from its first mark to its last."""

    pid: int
    try_number: int
    first: float
    last: float
    events: tuple[str, ...]


def read(path: Path) -> list[Mark]:
    """The marks in the order in which they were written; none where there is no file."""
    if not path.exists():
        return []
    lines = (line.split(maxsplit=4) for line in path.read_text(encoding="utf-8").splitlines())
    return [
        Mark(float(at), host, int(pid), int(number), event)
        for at, host, pid, number, event in lines
    ]


def lives(marks: list[Mark]) -> list[Life]:
    """The processes that marked, by their beginning."""
    ordered = sorted(marks, key=lambda mark: (mark.pid, mark.at))
    found = []
    for pid, of_one in groupby(ordered, key=lambda mark: mark.pid):
        own = list(of_one)
        events = tuple(mark.event for mark in own)
        found.append(Life(pid, own[0].try_number, own[0].at, own[-1].at, events))
    return sorted(found, key=lambda life: life.first)


def overlaps(marks: list[Mark]) -> list[tuple[Life, Life]]:
    """Pairs of processes of one task that were there at the same time."""
    return [(one, next_) for one, next_ in pairwise(lives(marks)) if next_.first <= one.last]
