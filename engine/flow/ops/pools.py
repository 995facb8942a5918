"""`flow pools`."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.decide.standing import UNLIMITED, PoolStanding, why_pool
from flow.errors import Conflict, InvalidDag, NotFound, UsageError
from flow.graph.check import check_id
from flow.graph.spec import DEFAULT_POOL
from flow.ops.deployment import Deployment
from flow.ops.suggest import did_you_mean
from flow.store import gates, notify, pools, wakeups
from flow.store.connect import Conn
from flow.store.pools import Definition, Misfit, Waiter
from flow.store.pools import Holder as Holder  # what is returned here has its names here
from flow.store.pools import Pool as Pool
from flow.store.read.page import Page, Total


class Waiting(NamedTuple):
    """Ready tasks of one DAG that wait for slots of a pool, and why they do."""

    dag_id: str
    tasks: int
    slots: int
    priority: int
    since: datetime
    reason: str


class PoolUse(NamedTuple):
    """A pool with who holds its slots and who waits for them, by DAG."""

    pool: Pool
    holders: list[Holder]
    waiting: list[Waiting]


def page(deployment: Deployment, limit: int | None = None) -> Page[Pool]:
    """Pools with what occupies them."""
    with deployment.snapshot():
        rows, count = pools.page(deployment.conn, limit)
    return Page(rows, Total(count))


def show(deployment: Deployment, name: str, limit: int | None = None) -> PoolUse:
    """One pool, who holds it and who waits, at most `limit` DAGs of each. Raises `NotFound`."""
    conn = deployment.conn
    with deployment.snapshot():
        pool = pools.one(conn, name)
        if pool is None:
            raise _unknown(deployment, name)
        used = gates.pool_use(conn, [name]).get(name, gates.Use()).slots
        waiting = [_waiting(pool, used, one) for one in pools.waiters(conn, name, limit)]
        return PoolUse(pool, pools.holders(conn, name, limit), waiting)


def warnings(conn: Conn, file: str | None = None) -> list[tuple[str, str, str]]:
    """(dag_id, file, warning) of DAGs whose tasks can never get slots of the pool they name."""
    return [
        (one.dag_id, one.file, f"tasks in pool {one.pool}: {_reason(one)}")
        for one in pools.misfits(conn, file)
    ]


def _reason(one: Misfit) -> str:
    return why_pool(one.pool, PoolStanding(one.size, 0), one.slots).text()


def _waiting(pool: Pool, used: int, waiter: Waiter) -> Waiting:
    reason = why_pool(pool.name, PoolStanding(pool.slots, used), waiter.most_slots).text()
    return Waiting(waiter.dag_id, waiter.tasks, waiter.slots, waiter.priority, waiter.since, reason)


def _unknown(deployment: Deployment, name: str) -> NotFound:
    names = pools.names(deployment.conn)
    return NotFound(
        f"there is no pool {name!r}",
        did_you_mean(name, names, "`flow pools list` shows all pools"),
    )


def set_(
    deployment: Deployment,
    name: str,
    slots: int,
    include_deferred: bool | None = None,
    description: str | None = None,
) -> Pool:
    """Make a pool, or change it; what is not given (None) stays. -1 slots are unlimited."""
    try:
        check_id("pool", name)
    except InvalidDag as error:
        raise UsageError(error.message, error.hint) from None
    if slots < UNLIMITED:
        raise UsageError(f"a pool cannot have {slots} slots", "use 0 or more, or -1 for no limit")
    conn = deployment.conn
    with deployment.change("pools.set") as change:
        if slots != UNLIMITED:
            # What is being queued as if the pool had no limit has to be seen by whoever counts it.
            gates.freeze(conn)
        before = pools.lock(conn, name)
        old = before or Definition(slots, include_deferred=False, description="")
        after = Definition(
            slots,
            old.include_deferred if include_deferred is None else include_deferred,
            old.description if description is None else description,
        )
        pools.set_(conn, name, after)
        # What was ready and had no room may have some now.
        wakeups.wake_named(conn, [("pool", name)])
        change.log(name, before._asdict() if before else None, after._asdict())
        change.tell(notify.WAKE)
        found = pools.one(conn, name)
    assert found is not None  # written in the same transaction
    return found


def delete(deployment: Deployment, name: str, *, dry_run: bool = False) -> Pool:
    """Delete a pool that no unfinished task is in; returns what it was."""
    if name == DEFAULT_POOL:
        raise UsageError(
            f"{DEFAULT_POOL} cannot be deleted", f"give it a size: flow pools set {DEFAULT_POOL} N"
        )
    conn = deployment.conn
    with deployment.change("pools.delete") as change:
        before = pools.lock(conn, name)
        found = pools.one(conn, name)
        if before is None or found is None:
            raise _unknown(deployment, name)
        busy = found.running + found.queued + found.scheduled + found.deferred
        if busy:
            raise Conflict(
                f"pool {name!r} is in use: {busy} slots of unfinished tasks",
                "wait until they have ended, or move the tasks to another pool in their DAG files",
            )
        if not dry_run:
            pools.delete(conn, name)
            change.log(name, before._asdict())
    return found
