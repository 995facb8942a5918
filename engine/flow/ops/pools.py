"""`flow pools`."""

from __future__ import annotations

from typing import Final

from flow.errors import Conflict, InvalidDag, NotFound, UsageError
from flow.graph.check import check_id
from flow.graph.spec import DEFAULT_POOL
from flow.ops.deployment import Deployment
from flow.ops.suggest import did_you_mean
from flow.store import gates, notify, pools, wakeups
from flow.store.pools import Definition, Pool
from flow.store.read.page import Page, Total

UNLIMITED: Final = -1


def page(deployment: Deployment, limit: int | None = None) -> Page[Pool]:
    """Pools with what occupies them."""
    with deployment.snapshot():
        rows, count = pools.page(deployment.conn, limit)
    return Page(rows, Total(count))


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
            names = [pool.name for pool in pools.page(conn, None)[0]]
            hint = did_you_mean(name, names, "`flow pools list` shows all pools")
            raise NotFound(f"there is no pool {name!r}", hint)
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
