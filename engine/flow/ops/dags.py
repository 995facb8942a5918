"""`flow dags list`, `show` and `errors`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from flow.errors import NotFound
from flow.ops.deployment import Deployment
from flow.ops.suggest import did_you_mean
from flow.store import clock
from flow.store.read import dags
from flow.store.read.dags import Dag, FileError, FileReport, Version
from flow.store.read.page import Page

if TYPE_CHECKING:
    from flow.graph import DagSpec, GroupSpec, TaskSpec
    from flow.ops.next_runs import NextRun

SHOWN_RUNS: Final = 5
SHOWN_VERSIONS: Final = 10


class DagDetails(NamedTuple):
    """Everything `flow dags show` knows."""

    dag: Dag
    present: bool
    description: str | None
    line: int | None
    spec: DagSpec
    order: tuple[TaskSpec, ...]
    """Tasks, upstream first."""
    groups: tuple[GroupSpec, ...]
    next_runs: list[NextRun]
    versions: list[Version]
    error: str | None
    """Why the file's newest state cannot be imported."""
    warnings: list[str]


def page(
    deployment: Deployment,
    *,
    tags: Sequence[str] = (),
    owner: str | None = None,
    paused: bool | None = None,
    failed: bool = False,
    limit: int | None = None,
) -> Page[Dag]:
    """DAGs that their files define. `tags`: any of them; `failed`: their latest run failed."""
    with deployment.snapshot():
        return dags.page(
            deployment.conn, tags=tags, owner=owner, paused=paused, failed=failed, limit=limit
        )


def show(deployment: Deployment, dag_id: str) -> DagDetails:
    """One DAG with its graph, next runs, versions and warnings. Raises `NotFound`."""
    # A list of DAGs needs no graph, and is asked for most often.
    from flow.graph.plan import upcoming
    from flow.ops.next_runs import in_zone
    from flow.ops.pools import warnings
    from flow.ops.references import find_dag, load_graph

    conn = deployment.conn
    with deployment.snapshot():
        stored = find_dag(conn, dag_id)
        dag = dags.one(conn, dag_id)
        assert dag is not None  # found a moment ago, in the same snapshot
        graph = load_graph(conn, stored.spec_hash)
        file = dags.file(conn, dag.file)
        planned = islice(upcoming(graph.spec, stored.cursor_at, clock.now(conn)), SHOWN_RUNS)
        return DagDetails(
            dag=dag,
            present=stored.present,
            description=stored.description,
            line=stored.line,
            spec=graph.spec,
            order=tuple(graph.tasks[task_id] for task_id in graph.order),
            groups=graph.spec.groups,
            next_runs=in_zone(graph.spec, (one.interval for one in planned)),
            versions=dags.versions(conn, dag_id, SHOWN_VERSIONS),
            error=file.error if file else None,
            warnings=[
                *(file.warnings if file else []),
                *(text for one, _, text in warnings(conn, dag.file) if one == dag_id),
            ],
        )


def errors(deployment: Deployment, limit: int | None = None) -> Page[FileError]:
    """DAG files that cannot be imported."""
    with deployment.snapshot():
        return dags.errors(deployment.conn, limit)


def file_report(deployment: Deployment, path: Path) -> FileReport:
    """What the last import of a DAG file said. Raises `NotFound`.

    The path may also be the end of one: `daily/sales.py`.
    """
    conn = deployment.conn
    with deployment.snapshot():
        known = dags.files(conn)
        whole = str(path.absolute())
        matching = [one for one in known if one == whole or one.endswith(f"/{path}")]
        report = dags.file(conn, whole if whole in matching else matching[0]) if matching else None
    if report is None:
        raise NotFound(
            f"no DAG file {path} has been parsed",
            did_you_mean(str(path), known, "`flow parse --once` reads the DAG folders now"),
        )
    return report
