"""`flow events`: what happened, and what happens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from flow.dates import parse_date
from flow.ops.deployment import Deployment
from flow.ops.references import find_run, zone_of
from flow.ops.waiting import until_changed
from flow.store import clock
from flow.store.connect import STATEMENT_TIMEOUT, Conn
from flow.store.read import changes, events
from flow.store.read.events import Event

RECENT: Final = timedelta(hours=1)
"""So far back goes a look without `since`."""
OVERLAP: Final = timedelta(seconds=STATEMENT_TIMEOUT)
"""So long after the times that it has written a transaction may commit; they are read again."""


SLOWEST_READER: Final = 600.0
"""Seconds for which one who reads all events may look at a screen of them: all this time the
database keeps what it would have tidied up."""


class Asked(NamedTuple):
    """Whose events: of everything, of a DAG, or of a run. `since` is a date argument."""

    dag_id: str | None = None
    run: str | None = None
    since: str | None = None
    limit: int | None = None


class _Scope(NamedTuple):
    dag_id: str | None
    run_id: str | None
    since: datetime


def recent(deployment: Deployment, asked: Asked) -> list[Event]:
    """The newest events, oldest first. Raises `NotFound`, and `UsageError` for what is no date."""
    with deployment.snapshot():
        scope = _scope(deployment, asked)
        return _read(deployment.conn, scope, scope.since, asked.limit)


def every(deployment: Deployment, asked: Asked) -> Iterator[Event]:
    """All events, oldest first, each read when it is wanted. Raises what `recent` does."""
    conn = deployment.conn
    with deployment.snapshot(idle_timeout=SLOWEST_READER):
        scope = _scope(deployment, asked)
        yield from events.one_by_one(conn, scope.since, dag_id=scope.dag_id, run_id=scope.run_id)


def follow(deployment: Deployment, asked: Asked) -> Iterator[Event]:
    """The newest events, and then each as it happens, without an end. Raises what `recent` does."""
    conn = deployment.conn
    scope = _scope(deployment, asked)
    seen = changes.counter(conn)
    with deployment.snapshot():
        shown = _read(conn, scope, scope.since, asked.limit)
        late = _read(conn, scope, _window(conn, scope))
    yield from shown
    known = {_key(event) for event in (*shown, *late)}
    while True:
        until_changed(conn, seen)
        seen = changes.counter(conn)
        with deployment.snapshot():
            found = _read(conn, scope, _window(conn, scope))
        yield from (event for event in found if _key(event) not in known)
        known = {_key(event) for event in found}


def _window(conn: Conn, scope: _Scope) -> datetime:
    """Since when something may still come to light."""
    return max(scope.since, clock.now(conn) - OVERLAP)


def _read(conn: Conn, scope: _Scope, since: datetime, limit: int | None = None) -> list[Event]:
    return events.since(conn, since, dag_id=scope.dag_id, run_id=scope.run_id, limit=limit)


def _key(event: Event) -> tuple[object, ...]:
    task = (event.task_id, tuple(event.map_index or ()), event.try_number)
    return (event.at, event.kind, event.dag_id, event.run_id, task, event.state)


def _scope(deployment: Deployment, asked: Asked) -> _Scope:
    conn = deployment.conn
    zone = zone_of(conn, asked.dag_id, deployment.settings.dags.default_timezone)
    run_id = None
    begins = None
    if asked.dag_id is not None and asked.run is not None:
        found = find_run(conn, asked.dag_id, asked.run)
        # A clear puts a run into the queue once more; what it did before belongs to it, too.
        run_id, begins = found.run.run_id, min(found.made_at, found.run.queued_at)
    now = clock.now(conn)
    if asked.since is not None:
        since = parse_date(asked.since, zone, now).start
    else:
        since = begins or now - RECENT
    return _Scope(asked.dag_id, run_id, since)
