"""Which limits keep a ready task waiting, with their numbers.

`Room.refusal` is asked, as admission asks it, again and again with the limit that it named taken
away: so the limits named are exactly those that would refuse the task, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from flow.decide.admit import Candidate, Refusal, Room
from flow.decide.reason import Code, Fact, Reason

UNLIMITED: Final = -1
"""The size of a pool without one."""


class Limit(NamedTuple):
    """A limit and what is used of it, in tasks."""

    size: int
    used: int


class PoolStanding(NamedTuple):
    """The size of a pool in slots and what is used of it. None: there is no such pool."""

    size: int | None
    used: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How the limits stand that a task has to pass; None: there is no such limit.

    Of `pool` that is so where the pool is unlimited.
    """

    run: Limit | None = None
    dag: Limit | None = None
    task_in_run: Limit | None = None
    task_in_dag: Limit | None = None
    pool: PoolStanding | None = None
    served: frozenset[tuple[str, str]] = field(default_factory=frozenset)


def refusal_of(candidate: Candidate, standing: Standing) -> Refusal | None:
    """Which limit refuses a ready task first; None: it may go."""
    return _room(candidate, standing).refusal(candidate)


def why_ready(candidate: Candidate, standing: Standing) -> list[Reason]:
    """The limits that refuse a ready task; none when it may go."""
    reasons = []
    while (refusal := refusal_of(candidate, standing)) is not None:
        match refusal:
            case Refusal.QUEUE:
                reasons.append(_unserved(candidate))
                pair = frozenset({(candidate.executor, candidate.queue)})
                standing = replace(standing, served=pair)
            case Refusal.RUN:
                reasons.append(_full(Code.RUN_FULL, standing.run))
                standing = replace(standing, run=None)
            case Refusal.DAG:
                reasons.append(_full(Code.DAG_FULL, standing.dag))
                standing = replace(standing, dag=None)
            case Refusal.TASK_IN_RUN:
                own = {"task": candidate.task_id}
                reasons.append(_full(Code.TASK_IN_RUN_FULL, standing.task_in_run, own))
                standing = replace(standing, task_in_run=None)
            case Refusal.TASK_IN_DAG:
                own = {"task": candidate.task_id}
                reasons.append(_full(Code.TASK_IN_DAG_FULL, standing.task_in_dag, own))
                standing = replace(standing, task_in_dag=None)
            case Refusal.POOL:
                assert standing.pool is not None  # what is not there refuses nothing
                reasons.append(why_pool(candidate.pool, standing.pool, candidate.slots))
                standing = replace(standing, pool=None)
    return reasons


def why_pool(name: str, pool: PoolStanding, slots: int) -> Reason:
    """How a pool stands for a task that waits for so many slots of it.

    The one source of these sentences, for `flow why`, `flow pools show` and warnings of DAGs.
    """
    facts: dict[str, Fact] = {"pool": name, "used": pool.used, "slots": slots}
    if pool.size is not None:
        facts["limit"] = pool.size
    return Reason(_pool_code(pool, slots), facts, refers_to=f"pool:{name}")


def _pool_code(pool: PoolStanding, slots: int) -> Code:
    if pool.size is None:
        return Code.POOL_UNKNOWN
    if pool.size == 0:
        return Code.POOL_CLOSED
    if pool.size == UNLIMITED:
        return Code.POOL_ROOM
    if pool.size < slots:
        return Code.POOL_TOO_SMALL
    return Code.POOL_FULL if pool.size - pool.used < slots else Code.POOL_ROOM


def _room(candidate: Candidate, standing: Standing) -> Room:
    """The room that admission would find for this one."""
    room = Room(served=standing.served)
    own_run = (candidate.run_key, candidate.task_id)
    own_dag = (candidate.dag_id, candidate.task_id)
    if standing.run is not None:
        room.runs[candidate.run_key] = standing.run.size - standing.run.used
    if standing.dag is not None:
        room.dags[candidate.dag_id] = standing.dag.size - standing.dag.used
    if standing.task_in_run is not None:
        room.run_tasks[own_run] = standing.task_in_run.size - standing.task_in_run.used
    if standing.task_in_dag is not None:
        room.dag_tasks[own_dag] = standing.task_in_dag.size - standing.task_in_dag.used
    if standing.pool is not None:
        # Admission, too, takes a pool that does not exist for one of no slots.
        room.pools[candidate.pool] = (standing.pool.size or 0) - standing.pool.used
    return room


def _unserved(candidate: Candidate) -> Reason:
    facts = {"queue": candidate.queue, "executor": candidate.executor}
    return Reason(Code.QUEUE_UNSERVED, facts, refers_to=f"queue:{candidate.queue}")


def _full(code: Code, limit: Limit | None, more: dict[str, str] | None = None) -> Reason:
    assert limit is not None  # what is not there refuses nothing
    return Reason(code, {"used": limit.used, "limit": limit.size, **(more or {})})
