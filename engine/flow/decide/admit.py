"""`admit`: which ready tasks may go to a worker now, given the room that limits leave.

Pure: the caller counts under the right locks and passes the counts. Nothing full can hide
something ready behind it: a task that does not fit is passed over, the next one is looked at. The
one exception gives every task its bound: one that has waited too long (`raised`) and fits the size
of its pool, but not what is free of it, has the pool kept for it until it fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Refusal(StrEnum):
    """Which limit keeps a task waiting, in the order in which they are looked at."""

    QUEUE = "queue"
    RUN = "run"
    DAG = "dag"
    TASK_IN_RUN = "task_in_run"
    TASK_IN_DAG = "task_in_dag"
    POOL = "pool"


class Candidate(NamedTuple):
    """One scheduled task, with the gates it has to pass.

    `slots` is what it takes of its pool; 0: it never gave its slot back. `run_limit` and
    `dag_limit` limit the active instances of this task within its run and over all runs.
    """

    run_key: int
    task_id: str
    map_path: tuple[int, ...]
    dag_id: str
    pool: str
    slots: int
    queue: str
    executor: str
    run_limit: int | None = None
    dag_limit: int | None = None
    raised: bool = False


@dataclass(slots=True)
class Room:
    """What is left of each limit. A key that is absent has no limit.

    `pools` in slots, and `sizes` what they have in all; the others in tasks. `run_tasks` is by run
    and task, `dag_tasks` by DAG and task, of tasks that have such a limit. `served` are the
    (executor, queue) pairs that a live worker serves. `admit` takes from it what it hands out.
    """

    pools: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    dags: dict[str, int] = field(default_factory=dict)
    runs: dict[int, int] = field(default_factory=dict)
    run_tasks: dict[tuple[int, str], int] = field(default_factory=dict)
    dag_tasks: dict[tuple[str, str], int] = field(default_factory=dict)
    served: frozenset[tuple[str, str]] = frozenset()

    def refusal(self, one: Candidate) -> Refusal | None:
        """Why `one` has to wait; None: it may go."""
        if (one.executor, one.queue) not in self.served:
            return Refusal.QUEUE
        if self.runs.get(one.run_key, 1) < 1:
            return Refusal.RUN
        if self.dags.get(one.dag_id, 1) < 1:
            return Refusal.DAG
        if self.run_tasks and self.run_tasks.get((one.run_key, one.task_id), 1) < 1:
            return Refusal.TASK_IN_RUN
        if self.dag_tasks and self.dag_tasks.get((one.dag_id, one.task_id), 1) < 1:
            return Refusal.TASK_IN_DAG
        if one.slots and self.pools.get(one.pool, one.slots) < one.slots:
            return Refusal.POOL
        return None

    def take(self, one: Candidate) -> None:
        """Count `one` as admitted."""
        if one.run_key in self.runs:
            self.runs[one.run_key] -= 1
        if one.dag_id in self.dags:
            self.dags[one.dag_id] -= 1
        if (one.run_key, one.task_id) in self.run_tasks:
            self.run_tasks[one.run_key, one.task_id] -= 1
        if (one.dag_id, one.task_id) in self.dag_tasks:
            self.dag_tasks[one.dag_id, one.task_id] -= 1
        if one.pool in self.pools:
            self.pools[one.pool] -= one.slots

    def keep(self, one: Candidate) -> None:
        """Let nobody else into the pool that `one` waits for, if it will ever fit there."""
        if one.slots <= self.sizes.get(one.pool, 0):
            self.pools[one.pool] = 0


def admit(candidates: Iterable[Candidate], room: Room) -> list[Candidate]:
    """Those of `candidates` that fit, in their order; `room` is reduced accordingly."""
    admitted = []
    for one in candidates:
        refusal = room.refusal(one)
        if refusal is None:
            room.take(one)
            admitted.append(one)
        elif one.raised and refusal is Refusal.POOL:
            room.keep(one)
    return admitted
