"""Which limits keep a ready task waiting, with their numbers.

`Room.refusal` is asked, as admission asks it, again and again with the limit that it named taken
away: so the limits named are exactly those that would refuse the task, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from flow.decide.admit import Candidate, Room
from flow.decide.reason import Code, Fact, Reason


class Limit(NamedTuple):
    """A limit and what is used of it; in slots for a pool, else in tasks."""

    size: int
    used: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How the limits stand that a task has to pass; None: there is no such limit."""

    run: Limit | None = None
    dag: Limit | None = None
    pool: Limit | None = None
    served: frozenset[tuple[str, str]] = field(default_factory=frozenset)


def why_ready(candidate: Candidate, standing: Standing) -> list[Reason]:
    """The limits that refuse a ready task; none when it may go."""
    reasons = []
    while (refusal := _room(candidate, standing).refusal(candidate)) is not None:
        match refusal:
            case "queue":
                facts = {"queue": candidate.queue, "executor": candidate.executor}
                where = f"queue:{candidate.queue}"
                reasons.append(Reason(Code.QUEUE_UNSERVED, facts, refers_to=where))
                pair = frozenset({(candidate.executor, candidate.queue)})
                standing = replace(standing, served=pair)
            case "run":
                reasons.append(_full(Code.RUN_FULL, standing.run))
                standing = replace(standing, run=None)
            case "dag":
                reasons.append(_full(Code.DAG_FULL, standing.dag))
                standing = replace(standing, dag=None)
            case "pool":
                reasons.append(_pool(candidate, standing.pool))
                standing = replace(standing, pool=None)
            case _:  # a limit that has no sentence of its own: its word says which
                return [*reasons, Reason(Code.LIMIT, {"limit": str(refusal)})]
    return reasons


def _room(candidate: Candidate, standing: Standing) -> Room:
    """The room that admission would find for this one."""
    room = Room(served=standing.served)
    if standing.run is not None:
        room.runs[candidate.run_key] = standing.run.size - standing.run.used
    if standing.dag is not None:
        room.dags[candidate.dag_id] = standing.dag.size - standing.dag.used
    if standing.pool is not None:
        room.pools[candidate.pool] = standing.pool.size - standing.pool.used
    return room


def _full(code: Code, limit: Limit | None) -> Reason:
    assert limit is not None  # what is not there refuses nothing
    return Reason(code, {"used": limit.used, "limit": limit.size})


def _pool(candidate: Candidate, limit: Limit | None) -> Reason:
    assert limit is not None  # what is not there refuses nothing
    facts: dict[str, Fact] = {
        "pool": candidate.pool,
        "used": limit.used,
        "limit": limit.size,
        "slots": candidate.slots,
    }
    code = Code.POOL_TOO_SMALL if candidate.slots > limit.size else Code.POOL_FULL
    return Reason(code, facts, refers_to=f"pool:{candidate.pool}")
