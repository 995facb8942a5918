"""How the limits of admission stand for a ready task, and who is in front of it.

Counted with the statements of `flow.roles.schedule.admission`, but without its locks: the numbers
are those of one snapshot.
"""

from __future__ import annotations

from typing import Final

from flow.decide import Candidate, Refusal
from flow.decide.reason import Code, Fact, Reason
from flow.decide.standing import (
    UNLIMITED,
    Limit,
    PoolStanding,
    Standing,
    refusal_of,
    why_ready,
)
from flow.store import candidates, gates, pools
from flow.store.candidates import Ready
from flow.store.connect import Conn
from flow.store.gates import Gates
from flow.store.read import standing
from flow.store.read.standing import TaskNow

_FRONT: Final = 20
"""Tasks at the front of a pool that are looked at: those that have it kept for them are few."""


def why_limited(
    conn: Conn, task: Candidate, max_active_tasks: int | None, row: TaskNow
) -> list[Reason]:
    """What keeps a ready task from going, as admission would judge it now; nothing: it is due.

    `max_active_tasks` is the limit of its run, where that can bind.
    """
    state = gates.read(conn)
    found = standing_of(conn, state, task, max_active_tasks)
    reasons = why_ready(task, found)
    if found.pool is None or not task.slots:
        return reasons
    size = found.pool.size or 0
    if any(reason.code is Code.POOL_FULL for reason in reasons):
        return [*reasons, *_holder(conn, task.pool), *_ahead(conn, task, row, size)]
    if size - found.pool.used < task.slots:
        return reasons
    kept = _kept(conn, state, task)
    if kept:
        return [*reasons, *kept]
    return reasons or _ahead(conn, task, row, size)


def standing_of(
    conn: Conn, state: Gates, task: Candidate, max_active_tasks: int | None
) -> Standing:
    """How the limits stand that a ready task has to pass."""
    in_run = in_dag = run = dag = None
    if max_active_tasks is not None:
        active = gates.active_in_runs(conn, [(task.run_key, task.dag_id)])
        run = Limit(max_active_tasks, active.get(task.run_key, 0))
    concurrency = standing.concurrency(conn, task.dag_id)
    if concurrency is not None:
        dag = Limit(concurrency, gates.active_in_dags(conn, [task.dag_id]).get(task.dag_id, 0))
    if task.run_limit is not None or task.dag_limit is not None:
        counts = {
            run_key: active
            for _, _, run_key, active in gates.active_by_task(conn, [(task.dag_id, task.task_id)])
        }
        if task.run_limit is not None:
            in_run = Limit(task.run_limit, counts.get(task.run_key, 0))
        if task.dag_limit is not None:
            in_dag = Limit(task.dag_limit, sum(counts.values()))
    return Standing(run, dag, in_run, in_dag, _pool(conn, task.pool), state.served)


def _pool(conn: Conn, name: str) -> PoolStanding | None:
    size = gates.sizes(conn, [name]).get(name)
    if size == UNLIMITED:
        return None
    return PoolStanding(size, gates.pool_use(conn, [name]).get(name, gates.Use()).slots)


def _holder(conn: Conn, pool: str) -> list[Reason]:
    """Who has held slots of a pool for longest."""
    reasons = []
    for one in pools.holders(conn, pool, 1):
        name = f"{one.dag_id}/{one.oldest}"
        facts: dict[str, Fact] = {"pool": pool, "holder": name, "at": one.since}
        reasons.append(Reason(Code.POOL_HOLDER, facts, one.since, name))
    return reasons


def _ahead(conn: Conn, task: Candidate, row: TaskNow, size: int) -> list[Reason]:
    """How many of its pool come first."""
    ahead = standing.ahead_in_pool(conn, task.run_key, row, size)
    return [Reason(Code.POOL_AHEAD, {"pool": task.pool, "ahead": ahead})] if ahead else []


def _kept(conn: Conn, state: Gates, task: Candidate) -> list[Reason]:
    """For whom the pool is kept, so that what is free of it is not for this task."""
    front = candidates.ready(conn, "pool", task.pool, state, limit=_FRONT).ready
    for one in front:
        if one.task[:3] == task[:3] or not one.task.raised:
            break
        if _keeps(conn, state, one):
            run = standing.run_name(conn, one.task.run_key)
            name = f"{run}/{one.task.task_id}"
            facts: dict[str, Fact] = {"pool": task.pool, "holder": name, "slots": one.task.slots}
            return [Reason(Code.POOL_KEPT, facts, refers_to=name)]
    return []


def _keeps(conn: Conn, state: Gates, one: Ready) -> bool:
    """Whether admission keeps the pool for a raised task: nothing else is in its way."""
    found = standing_of(conn, state, one.task, one.max_active_tasks)
    size = 0 if found.pool is None else found.pool.size or 0
    return refusal_of(one.task, found) is Refusal.POOL and one.task.slots <= size
