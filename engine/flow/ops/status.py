"""`flow status`: is everything alive, and is anything stuck?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from flow.ops.deployment import Deployment
from flow.store import migrate, pools
from flow.store.connect import Conn
from flow.store.pools import Pool as Pool  # what is returned here has its names here
from flow.store.read import dags, status
from flow.store.read.status import (
    GivenUp,
    Process,
    Queue,
    Roomless,
    Unserved,
    Wakeups,
    Warned,
)

NEEDED_ROLES: Final = {
    "parse": "no DAG processor is alive: changes of DAG files are not seen",
    "schedule": "no scheduler is alive: nothing is started",
    "work": "no worker is alive: nothing runs",
}
MISSED_HEARTBEATS: Final = 3
LATE_WAKEUP: Final = 60.0
"""Seconds after which a wake-up that nobody took is a problem."""
_TOLD: Final = 3
"""Warnings of processes that are told in full."""
LONG_SNAPSHOT: Final = 3_600.0
"""Seconds after which an open transaction is worth a warning: no dead row goes until it ends."""


class RoleStatus(NamedTuple):
    """A process of the deployment; a worker has so many slots. Healthy: its heartbeats come."""

    role: str
    host: str
    pid: int
    started_at: datetime
    heartbeat_age_s: float
    slots: int | None
    healthy: bool


class ProcessStatus(NamedTuple):
    """A process with what it does. Healthy: its heartbeats come."""

    process: Process
    healthy: bool


class DatabaseStatus(NamedTuple):
    """The database: PostgreSQL's version, whether its schema is the newest, its size."""

    version: str
    migrated: bool
    size_bytes: int


class Status(NamedTuple):
    """A deployment at one moment. `problems` need somebody; `warnings` may."""

    roles: list[RoleStatus]
    queue: Queue
    wakeups: Wakeups
    pools: list[Pool]
    database: DatabaseStatus
    problems: list[str]
    warnings: list[str]


def show(deployment: Deployment) -> Status:
    """What a deployment does, and what is wrong with it."""
    conn = deployment.conn
    with deployment.snapshot():
        return read(conn, read_processes(deployment), dags.broken_files(conn))


def processes(deployment: Deployment) -> list[ProcessStatus]:
    """The processes of a deployment, with what each of them does."""
    with deployment.snapshot():
        return read_processes(deployment)


def has_scheduler(deployment: Deployment) -> bool:
    """Whether a scheduler is alive; without one nothing starts."""
    return any(one.healthy for one in processes(deployment) if one.process.role == "schedule")


def read_processes(deployment: Deployment) -> list[ProcessStatus]:
    """The processes, in the snapshot of the caller."""
    most = MISSED_HEARTBEATS * deployment.settings.worker.heartbeat
    return [
        ProcessStatus(one, healthy=one.heartbeat_age_s <= most)
        for one in status.processes(deployment.conn)
    ]


def read(conn: Conn, processes: Sequence[ProcessStatus], broken_files: int = 0) -> Status:
    """How a deployment of these processes stands, in the snapshot of the caller.

    `broken_files`: so many DAG files cannot be imported, which is warned of; 0 from a caller that
    shows these files itself.
    """
    roles = [_role(one) for one in processes]
    wakeups = status.wakeups(conn)
    found = status.database(conn)
    database = DatabaseStatus(
        found.version, migrate.revision(conn) == migrate.HEAD, found.size_bytes
    )
    all_pools, _ = pools.page(conn, None)
    roomless = status.roomless(conn)
    return Status(
        roles,
        status.queue(conn),
        wakeups,
        all_pools,
        database,
        [*_problems(roles, wakeups, status.unserved(conn)), *_without_room(roomless)],
        [
            *_warnings(found.oldest_snapshot_s, database, status.given_up(conn)),
            *_closed(roomless),
            *_broken(broken_files),
            *_warned(status.warned(conn)),
        ],
    )


def _role(one: ProcessStatus) -> RoleStatus:
    process = one.process
    return RoleStatus(
        process.role,
        process.host,
        process.pid,
        process.started_at,
        process.heartbeat_age_s,
        process.slots if process.role == "work" else None,
        one.healthy,
    )


def _problems(roles: list[RoleStatus], wakeups: Wakeups, unserved: list[Unserved]) -> list[str]:
    healthy = {role.role for role in roles if role.healthy}
    problems = [text for role, text in NEEDED_ROLES.items() if role not in healthy]
    problems += [
        f"{role.role} {role.host}:{role.pid} has not been heard of for {role.heartbeat_age_s:.0f} s"
        for role in roles
        if not role.healthy
    ]
    if "work" in healthy:
        problems += [
            f"{one.what} wait for queue {one.queue} (executor {one.executor}), "
            "which no live worker serves"
            for one in unserved
        ]
    if wakeups.oldest_s is not None and wakeups.oldest_s > LATE_WAKEUP:
        problems.append(
            f"{wakeups.due} wake-ups are due, the oldest for {wakeups.oldest_s:.0f} s: "
            "the schedulers do not keep up"
        )
    return problems


def _warnings(
    oldest_snapshot_s: float | None, database: DatabaseStatus, given_up: GivenUp | None
) -> list[str]:
    warnings = []
    if not database.migrated:
        warnings.append("the database schema is not the newest: run `flow db migrate`")
    if oldest_snapshot_s is not None and oldest_snapshot_s > LONG_SNAPSHOT:
        warnings.append(
            f"a transaction has been open for {oldest_snapshot_s:.0f} s; until it ends, "
            "the hot tables grow"
        )
    if given_up is not None:
        where = " ".join(filter(None, (given_up.dag_id, given_up.run_id, given_up.task_id)))
        warnings.append(
            f"{given_up.number} callbacks were given up, since workers went down with them; "
            f"the last: flow why {where}"
        )
    return warnings


def _without_room(roomless: Sequence[Roomless]) -> list[str]:
    """Pools for which tasks wait in vain, whatever else ends."""
    return [
        f"tasks wait for pool {one.pool}, which does not exist; make it: "
        f"flow pools set {one.pool} N"
        if one.slots is None
        else f"a task needs {one.most} slots of pool {one.pool}, which has {one.slots}; "
        f"make it larger: flow pools set {one.pool} {one.most}"
        for one in roomless
        if one.slots != 0
    ]


def _closed(roomless: Sequence[Roomless]) -> list[str]:
    """Pools that somebody closed, which may be meant so, while tasks wait for them."""
    return [
        f"tasks wait for pool {one.pool}, which has 0 slots; open it: flow pools set {one.pool} N"
        for one in roomless
        if one.slots == 0
    ]


def _warned(found: Sequence[Warned]) -> list[str]:
    """What DAG processors cannot do with their folders."""
    texts = [f"{one.path} on {one.host}: {one.text}" for one in found[:_TOLD]]
    if len(found) > _TOLD:
        texts.append(f"{len(found) - _TOLD} more like this; see `flow dags warnings`")
    return texts


def _broken(files: int) -> list[str]:
    """DAG files that cannot be imported. What was imported of them before goes on."""
    if not files:
        return []
    return [f"DAG files that cannot be imported: {files}; see `flow dags errors`"]
