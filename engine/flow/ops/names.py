"""The names that a command line completes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from flow.ops.deployment import Deployment
from flow.ops.references import load_graphs
from flow.store import pools
from flow.store.read import dags, runs

RUNS: Final = 100
"""Runs of a DAG whose ids are offered, the newest ones."""


class CommonNames(NamedTuple):
    """What is named without a DAG before it."""

    dag_ids: list[str]
    pools: list[str]


class NamesOfDag(NamedTuple):
    """What is named behind a DAG: its newest runs, and the tasks of its latest version."""

    run_ids: list[str]
    task_ids: list[str]


def common(deployment: Deployment) -> CommonNames:
    """The ids of all present DAGs, and the names of all pools."""
    conn = deployment.conn
    with deployment.snapshot():
        return CommonNames(dags.ids(conn), pools.names(conn))


def of_dags(deployment: Deployment, dag_ids: Sequence[str]) -> dict[str, NamesOfDag]:
    """The names of some DAGs, by id; those that do not exist are left out."""
    conn = deployment.conn
    with deployment.snapshot():
        stored = dags.stored(conn, dag_ids)
        graphs = load_graphs(conn, (dag.spec_hash for dag in stored))
        return {
            dag.dag_id: NamesOfDag(
                runs.recent_ids(conn, dag.dag_id, RUNS), list(graphs[dag.spec_hash].tasks)
            )
            for dag in stored
        }
