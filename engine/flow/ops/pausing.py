"""`flow dags pause` and `unpause`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple

from flow.graph import DagSpec, decode
from flow.graph.plan import cursor_from_now, plan, upcoming
from flow.ops.deployment import Deployment
from flow.ops.references import find_dags
from flow.store import clock, dag_intervals, notify, pausing, schedule, specs, wakeups
from flow.store.schedule import position
from flow.timetables import Planned

COUNTED: Final = 1_000
"""Due runs are counted up to here."""


class Paused(NamedTuple):
    """A DAG that is paused now. `changed`: it was not before."""

    dag_id: str
    changed: bool


class Unpaused(NamedTuple):
    """A DAG that goes on, and what that makes of it.

    `due` runs are created at once, as far as its limit of active runs allows (at least so many
    when there are `COUNTED`), the first for the interval that starts at `first_start`; `queued`
    runs that were made while it was paused may start; the next run after those comes at
    `next_run_at`, for the interval that starts at `next_start`.
    """

    dag_id: str
    changed: bool
    due: int
    first_start: datetime | None
    queued: int
    next_start: datetime | None
    next_run_at: datetime | None
    timezone: str


def pause(deployment: Deployment, dag_ids: Sequence[str]) -> list[Paused]:
    """Let no new run be created or started; runs that are running go on. All DAGs or none."""
    with deployment.change("dags.pause") as change:
        found = find_dags(deployment.conn, dag_ids, lock=True)
        changed = {dag.dag_id for dag in found if not dag.paused}
        pausing.set_paused(deployment.conn, sorted(changed), paused=True)
        for dag_id in sorted(changed):
            change.log(dag_id, {"paused": False}, {"paused": True})
    return [Paused(dag.dag_id, dag.dag_id in changed) for dag in found]


def unpause(
    deployment: Deployment, dag_ids: Sequence[str], *, dry_run: bool = False
) -> list[Unpaused]:
    """Let DAGs go on, from where their catchup says. All DAGs or none.

    The schedule is planned anew; queued runs get a wake-up. `dry_run` only says what would follow.
    """
    conn = deployment.conn
    with deployment.change("dags.unpause") as change:
        found = find_dags(conn, dag_ids, lock=True)
        now = clock.now(conn)
        bodies = specs.load(conn, {dag.spec_hash for dag in found})
        results = []
        for dag in found:
            spec = dag_intervals.completed(conn, decode(bodies[dag.spec_hash]))
            cursor = cursor_from_now(spec, dag.cursor_at, now) if dag.paused else dag.cursor_at
            queued = pausing.queued_runs(conn, dag.dag_id)
            results.append(_outlook(spec, cursor, now, queued, changed=dag.paused))
            if dag.paused and not dry_run:
                schedule.move(conn, [position(dag.dag_id, cursor, plan(spec, cursor, now))])
                change.log(dag.dag_id, {"paused": True}, {"paused": False})
        if not dry_run:
            changed = [dag.dag_id for dag in found if dag.paused]
            pausing.set_paused(conn, changed, paused=False)
            wakeups.wake_named(conn, [("dag", dag_id) for dag_id in changed])
            change.tell(notify.WAKE)
    return results


def _outlook(
    spec: DagSpec, cursor: datetime | None, now: datetime, queued: int, *, changed: bool
) -> Unpaused:
    """What the scheduler is going to create."""
    due: list[Planned] = []
    following = None
    for planned in islice(upcoming(spec, cursor, now), COUNTED + 1):
        if planned.due_at > now:
            following = planned
            break
        due.append(planned)
    return Unpaused(
        dag_id=spec.dag_id,
        changed=changed,
        due=min(len(due), COUNTED),
        first_start=due[0].interval.start if due else None,
        queued=queued,
        next_start=following.interval.start if following else None,
        next_run_at=following.due_at if following else None,
        timezone=spec.timezone,
    )
