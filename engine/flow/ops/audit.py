"""`flow audit`: who did what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from flow.dates import parse_date
from flow.errors import NotFound
from flow.ops.deployment import Deployment
from flow.ops.paging import in_pages
from flow.ops.references import zone_of
from flow.store import clock
from flow.store.connect import Conn
from flow.store.read import audit
from flow.store.read.audit import AuditEntry, Wanted
from flow.store.read.page import Page
from flow.timetables.zone import load_zone


class Asked(NamedTuple):
    """Which entries are meant. `since` is a date argument, in the DAG's zone or the default one.

    `who` is a user of the operating system or a role of the database.
    """

    dag_id: str | None = None
    who: str | None = None
    since: str | None = None


ALL: Final = Asked()


def page(deployment: Deployment, asked: Asked = ALL, limit: int | None = None) -> Page[AuditEntry]:
    """Entries, newest first. Raises `NotFound` for a DAG that is not there and never was."""
    with deployment.snapshot():
        return audit.page(deployment.conn, _wanted(deployment, asked), limit)


def every(deployment: Deployment, asked: Asked) -> Iterator[AuditEntry]:
    """All entries that `page` would have, read a page at a time. Raises what it does."""
    conn = deployment.conn
    with deployment.snapshot():
        wanted = _wanted(deployment, asked)

    def read(last: AuditEntry | None, limit: int) -> list[AuditEntry]:
        return audit.behind(conn, wanted, last, limit)

    return in_pages(deployment, read)


def _wanted(deployment: Deployment, asked: Asked) -> Wanted:
    conn = deployment.conn
    zone = _zone(conn, asked.dag_id, deployment.settings.dags.default_timezone)
    start = None
    if asked.since is not None:
        start = parse_date(asked.since, zone, clock.now(conn)).start
    return Wanted(asked.dag_id, asked.who, start)


def _zone(conn: Conn, dag_id: str | None, default: str) -> ZoneInfo:
    """The zone of dates without an offset; of a DAG that was deleted only the audit knows."""
    try:
        return zone_of(conn, dag_id, default)
    except NotFound:
        if not audit.behind(conn, Wanted(dag_id), None, 1):
            raise
        return load_zone(default)
