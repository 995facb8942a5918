"""What a schedule has made, as the real command tells it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from cases.deployment import Deployment

Interval = tuple[datetime, datetime]


def schedule(deployment: Deployment) -> None:
    """Let a scheduler do all that is due."""
    done = deployment.flow("schedule", "--once")
    assert done.code == 0, done.err


def unpause(deployment: Deployment, *dag_ids: str) -> dict[str, dict[str, Any]]:
    """Let DAGs go on; what `flow` says will follow, by DAG."""
    said = deployment.ask("dags", "unpause", *dag_ids)
    return {one["dag_id"]: one for one in said["dags"]}


def runs(deployment: Deployment, dag_id: str) -> list[dict[str, Any]]:
    """All runs of a DAG, in order of their intervals."""
    found = deployment.ask("runs", "list", dag_id, "--all")
    return sorted(found, key=_place)


def by_dag(deployment: Deployment) -> dict[str, list[dict[str, Any]]]:
    """All runs of every DAG that has some, in order of their intervals."""
    found: dict[str, list[dict[str, Any]]] = {}
    for run in sorted(deployment.ask("runs", "list", "--all"), key=_place):
        found.setdefault(run["dag_id"], []).append(run)
    return found


def intervals(found: list[dict[str, Any]]) -> list[Interval]:
    """The intervals of runs."""
    return [(moment(run["data_interval_start"]), moment(run["data_interval_end"])) for run in found]


def moment(text: str) -> datetime:
    """A time as JSON has it."""
    found = datetime.fromisoformat(text)
    assert found.tzinfo is not None, f"{text} has no offset"
    return found


def _place(run: dict[str, Any]) -> tuple[str, str]:
    return run["data_interval_start"], run["queued_at"]


def coming(deployment: Deployment, dag_id: str, *options: str) -> list[Interval]:
    """The intervals of the runs that `flow dags next` lists; each run comes when its own ends."""
    found = deployment.ask("dags", "next", dag_id, *options)
    assert all(run["run_at"] == run["data_interval_end"] for run in found)
    return intervals(found)
