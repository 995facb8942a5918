"""Places in the order in which waiting tasks of equal priority are let through.

Tasks wait in *lines*: ready ones for slots of a pool, queued ones for a worker of their queue, and
in each line those of a higher priority go first. Within one priority DAGs take turns by
self-clocked fair queueing (Golestani 1994): each task gets a place when it begins to wait, and the
line is served in order of place. The line's *clock* is the place of what is being served. A task
stands its *stride* behind the clock, or behind the last task of the same DAG that waits there,
whichever is further back. So a DAG with 10,000 tasks and one with 3 alternate, however much earlier
the 10,000 came; tasks that become ready one after the other have no more turns than those that wait
together; and a DAG gains nothing by having waited for something else meanwhile.

A stride is slots divided by share: what takes twice the slots has half the turns, and a share of 2
has twice as many. The share of a task is that of its DAG times that of its owner. The tasks of
backfills wait beside the other ones of their DAG, as if they were another DAG's, with a smaller
share: they always move, and a backfill does not hold up its own DAG.

Nothing is kept between two tasks: clock and last place are what the waiting tasks themselves say
(`flow.store.places`), so no scheduler has to be the only one, and nothing can drift.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

UNIT: Final = 1_000
"""The stride of one slot at a share of 1."""
LONGEST: Final = 1_000_000_000
"""The longest stride, so that it fits its column; a thousand slots at a share of 0.001."""


class Shares(NamedTuple):
    """What `[shares]` of `flow.toml` says; what is not named there has a share of 1."""

    dags: Mapping[str, float] = {}
    owners: Mapping[str, float] = {}
    backfills: float = 0.25
    """Of all tasks of backfills, times the other two."""

    def stride(self, dag_id: str, owner: str, slots: int, *, backfill: bool) -> int:
        """What a task costs its DAG in an order of equal priority; at least 1."""
        if not (self.dags or self.owners or backfill):
            return min(LONGEST, UNIT * slots)
        share = self.dags.get(dag_id, 1.0) * self.owners.get(owner, 1.0)
        if backfill:
            share *= self.backfills
        return max(1, min(LONGEST, round(UNIT * slots / share)))


def offsets(waiting: Iterable[tuple[int, int]]) -> list[int]:
    """How far behind the first one of its flow each task stands, given (flow, stride) of each."""
    behind: dict[int, int] = {}
    found = []
    for flow, stride in waiting:
        place = behind.get(flow, 0)
        found.append(place)
        behind[flow] = place + stride
    return found
