"""Reading what tasks have marked, and the effects that stand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """A task of a run: where one effect has to stand."""

    dag_id: str
    interval: str
    task_id: str

    @property
    def run_id(self) -> str:
        """The id that the command knows its run by."""
        return f"scheduled__{self.interval}:00+00:00"

    def __str__(self) -> str:
        return "/".join(self)


class Mark(NamedTuple):
    """One line that a task wrote; `at` is in seconds of CLOCK_MONOTONIC."""

    at: float
    host: str
    pid: int
    place: Place
    number: int
    event: str


@dataclass(frozen=True)
class Life:
    """One try as it was seen: a process, from its first mark to its last."""

    pid: int
    number: int
    first: float
    last: float
    events: tuple[str, ...]

    def __str__(self) -> str:
        told = ", ".join(event for event in self.events if event != "alive")
        return f"try {self.number} (pid {self.pid}) {self.first:.3f} to {self.last:.3f}: {told}"


def parse(line: str) -> Mark:
    """Read one line of a file of marks."""
    at, host, pid, dag_id, interval, task_id, number, event = line.split()
    return Mark(float(at), host, int(pid), Place(dag_id, interval, task_id), int(number), event)


def read(folder: Path) -> list[Mark]:
    """All marks below a folder, in order of time; a line that is being written is left out."""
    found = []
    for path in folder.iterdir():
        whole, _, _ = path.read_text(encoding="utf-8").rpartition("\n")
        found += [parse(line) for line in whole.splitlines()]
    return sorted(found)


def lives(marks: list[Mark]) -> dict[Place, list[Life]]:
    """The tries of each task, in order of their beginning."""
    found: dict[Place, list[Life]] = defaultdict(list)

    def owner(mark: Mark) -> tuple[Place, int, int]:
        return mark.place, mark.pid, mark.number

    for (place, pid, number), group in groupby(sorted(marks, key=owner), key=owner):
        own = list(group)
        events = tuple(mark.event for mark in own)
        found[place].append(Life(pid, number, own[0].at, own[-1].at, events))
    for of_task in found.values():
        of_task.sort(key=lambda life: life.first)
    return found


def running(marks: list[Mark]) -> set[int]:
    """The pids of tries that have begun and have not marked an end."""
    begun = {mark.pid for mark in marks}
    return begun - {mark.pid for mark in marks if mark.event in ("end", "failed")}


def effects(folder: Path) -> dict[Place, list[str]]:
    """The rows that stand for each task: "TRY.PID"."""
    found = {}
    for path in folder.glob("*/*/[!.]*"):
        place = Place(*path.relative_to(folder).parts)
        found[place] = sorted(row.name for row in path.iterdir())
    return found
