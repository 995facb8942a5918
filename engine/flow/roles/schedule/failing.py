"""`max_consecutive_failed_dag_runs`: a DAG that only fails is paused, and says why.

Looked at when a run of the DAG has ended, under the lock of the DAG, before another one is started.
What failed before the DAG was last unpaused does not count again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from flow.graph import DagSpec
from flow.store import audit, pausing
from flow.store.audit import Entry
from flow.store.connect import Conn

log = logging.getLogger(__name__)


def pause_failing(conn: Conn, specs: Iterable[DagSpec]) -> set[str]:
    """Pause those of some locked DAGs whose last runs have all failed; their ids."""
    limits = {
        spec.dag_id: spec.max_consecutive_failed_dag_runs
        for spec in specs
        if spec.max_consecutive_failed_dag_runs
    }
    failing = pausing.failed_in_a_row(conn, limits)
    for dag_id in failing:
        reason = f"after {limits[dag_id]} failed runs in a row (max_consecutive_failed_dag_runs)"
        pausing.set_paused(conn, [dag_id], paused=True, reason=reason)
        audit.record(
            conn,
            [Entry("dags.pause", dag_id, {"paused": False}, {"paused": True, "reason": reason})],
        )
        log.warning("DAG %s is paused %s", dag_id, reason)
    return set(failing)
