"""What DAGs do: their last runs, and which of them run or have failed.

A list of 20,000 DAGs asks for the last runs of those in sight only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flow.ops.deployment import Deployment
from flow.store.read import activity
from flow.store.read.activity import LastRun


class Standing(NamedTuple):
    """Ids of DAGs: `failed`, their latest run failed; `running`, they have a running run."""

    failed: frozenset[str]
    running: frozenset[str]


def last_runs(
    deployment: Deployment, dag_ids: Sequence[str], limit: int
) -> Mapping[str, list[LastRun]]:
    """The newest runs of each of some DAGs, at most `limit`, the oldest of them first."""
    found: dict[str, list[LastRun]] = {dag_id: [] for dag_id in dag_ids}
    with deployment.snapshot():
        for run in activity.last_runs(deployment.conn, dag_ids, limit):
            found[run.dag_id].append(run)
    return found


def standing(deployment: Deployment) -> Standing:
    """Which DAGs run, and of which the latest run failed."""
    conn = deployment.conn
    with deployment.snapshot():
        return Standing(frozenset(activity.failing(conn)), frozenset(activity.running(conn)))
