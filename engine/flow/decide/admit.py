"""`admit`: which ready tasks may go to a worker now, given the room that limits leave.

Pure: the caller counts under the right locks and passes the counts. Nothing full can hide
something ready behind it: a task that does not fit is passed over, the next one is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Candidate(NamedTuple):
    """One scheduled task, with the gates it has to pass."""

    run_key: int
    task_id: str
    map_path: tuple[int, ...]
    dag_id: str
    pool: str
    slots: int
    queue: str
    executor: str


@dataclass(slots=True)
class Room:
    """What is left of each limit. A key that is absent has no limit.

    `pools` in slots; `dags` and `runs` in tasks; `served` the (executor, queue) pairs that a live
    worker serves. `admit` takes from it what it hands out.
    """

    pools: dict[str, int] = field(default_factory=dict)
    dags: dict[str, int] = field(default_factory=dict)
    runs: dict[int, int] = field(default_factory=dict)
    served: frozenset[tuple[str, str]] = frozenset()

    def refusal(self, candidate: Candidate) -> str | None:
        """Why `candidate` has to wait: "queue", "run", "dag" or "pool"; None: it may go."""
        if (candidate.executor, candidate.queue) not in self.served:
            return "queue"
        if self.runs.get(candidate.run_key, 1) < 1:
            return "run"
        if self.dags.get(candidate.dag_id, 1) < 1:
            return "dag"
        if self.pools.get(candidate.pool, candidate.slots) < candidate.slots:
            return "pool"
        return None

    def take(self, candidate: Candidate) -> None:
        """Count `candidate` as admitted."""
        if candidate.run_key in self.runs:
            self.runs[candidate.run_key] -= 1
        if candidate.dag_id in self.dags:
            self.dags[candidate.dag_id] -= 1
        if candidate.pool in self.pools:
            self.pools[candidate.pool] -= candidate.slots


def admit(candidates: Iterable[Candidate], room: Room) -> list[Candidate]:
    """Those of `candidates` that fit, in their order; `room` is reduced accordingly."""
    admitted = []
    for candidate in candidates:
        if room.refusal(candidate) is None:
            room.take(candidate)
            admitted.append(candidate)
    return admitted
