"""`flow audit`: who did what."""

from __future__ import annotations

from flow.dates import parse_date
from flow.ops.deployment import Deployment
from flow.ops.references import zone_of
from flow.store import clock
from flow.store.read import audit
from flow.store.read.audit import AuditEntry, Wanted
from flow.store.read.page import Page


def page(
    deployment: Deployment,
    *,
    dag_id: str | None = None,
    who: str | None = None,
    since: str | None = None,
    limit: int | None = None,
) -> Page[AuditEntry]:
    """Entries, newest first. `since` is a date argument, in the DAG's zone or the default one.

    `who` is a user of the operating system or a role of the database. Raises `NotFound` for a DAG
    that does not exist.
    """
    conn = deployment.conn
    with deployment.snapshot():
        zone = zone_of(conn, dag_id, deployment.settings.dags.default_timezone)
        start = parse_date(since, zone, clock.now(conn)).start if since is not None else None
        return audit.page(conn, Wanted(dag_id, who, start), limit)
