"""`flow dags list`, `show`, `versions` and `errors`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from flow.errors import NotFound
from flow.ops.deployment import Deployment
from flow.ops.paging import in_pages
from flow.ops.suggest import did_you_mean
from flow.store import clock, dag_intervals
from flow.store.connect import Conn
from flow.store.dag_intervals import Failed
from flow.store.read import dags
from flow.store.read.dags import ALL, Dag, FileError, FileReport, Version
from flow.store.read.dags import Filter as Filter
from flow.store.read.page import Page

if TYPE_CHECKING:
    from flow.graph import DagSpec, TaskSpec
    from flow.graph.grouping import Placed
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
    by_group: list[Placed]
    """The same, those of a group together."""
    next_runs: list[NextRun]
    versions: list[Version]
    error: str | None
    """Why the file's newest state cannot be imported."""
    timetable: Failed | None
    """Why its own timetable cannot be evaluated; the intervals that are known get their runs."""
    warnings: list[str]


def page(deployment: Deployment, wanted: Filter = ALL, limit: int | None = None) -> Page[Dag]:
    """DAGs like this."""
    with deployment.snapshot():
        return dags.page(deployment.conn, wanted, limit)


def every(deployment: Deployment, wanted: Filter) -> Iterator[Dag]:
    """All DAGs that `page` would have, read a page at a time."""

    def read(last: Dag | None, limit: int) -> list[Dag]:
        return dags.behind(deployment.conn, last.dag_id if last else "", limit, wanted)

    return in_pages(deployment, read)


def ids(deployment: Deployment) -> list[str]:
    """The ids of all DAGs, in their order."""
    return dags.ids(deployment.conn)


def behind(deployment: Deployment, dag_id: str, limit: int) -> list[Dag]:
    """The next `limit` DAGs in order of id, after `dag_id`; "" comes before all."""
    with deployment.snapshot():
        return dags.behind(deployment.conn, dag_id, limit)


def some(deployment: Deployment, dag_ids: Sequence[str]) -> list[Dag]:
    """Some DAGs, in no order; those that their files do not define any more are left out."""
    with deployment.snapshot():
        return dags.some(deployment.conn, dag_ids)


def show(deployment: Deployment, dag_id: str) -> DagDetails:
    """One DAG with its graph, next runs, versions and warnings. Raises `NotFound`."""
    # A list of DAGs needs no graph, and is asked for most often.
    from flow.graph.grouping import by_group
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
        order = tuple(graph.tasks[task_id] for task_id in graph.order)
        file = dags.file(conn, dag.file)
        spec = dag_intervals.completed(conn, graph.spec)
        planned = islice(upcoming(spec, stored.cursor_at, clock.now(conn)), SHOWN_RUNS)
        return DagDetails(
            dag=dag,
            present=stored.present,
            description=stored.description,
            line=stored.line,
            spec=graph.spec,
            order=order,
            by_group=by_group(order, graph.spec.groups),
            next_runs=in_zone(spec, (one.interval for one in planned)),
            versions=dags.versions(conn, dag_id, SHOWN_VERSIONS),
            error=file.error if file else None,
            timetable=dag_intervals.failed(conn, dag_id),
            warnings=[
                *(file.warnings if file else []),
                *(text for one, _, text in warnings(conn, dag.file) if one == dag_id),
            ],
        )


def errors(deployment: Deployment, limit: int | None = None) -> Page[FileError]:
    """DAG files that cannot be imported."""
    with deployment.snapshot():
        return dags.errors(deployment.conn, limit)


def broken_files(deployment: Deployment) -> int:
    """How many DAG files cannot be imported."""
    with deployment.snapshot():
        return dags.broken_files(deployment.conn)


def file_report(deployment: Deployment, path: Path) -> FileReport:
    """What the last import of a DAG file said. Raises `NotFound`.

    The path may also be the end of one: `daily/sales.py`.
    """
    conn = deployment.conn
    with deployment.snapshot():
        report = dags.file(conn, find_file(conn, path))
        assert report is not None  # found a moment ago, in the same snapshot
        return report


def find_file(conn: Conn, path: Path) -> str:
    """The path of a DAG file that has been parsed, from its whole path or the end of it.

    Raises `NotFound`.
    """
    known = dags.files(conn)
    whole = str(path.absolute())
    if whole in known:
        return whole
    matching = [one for one in known if one.endswith(f"/{path}")]
    if not matching:
        raise NotFound(
            f"no DAG file {path} has been parsed",
            did_you_mean(str(path), known, "`flow parse --once` reads the DAG folders now"),
        )
    return matching[0]


def versions(deployment: Deployment, dag_id: str, limit: int | None = None) -> Page[Version]:
    """The versions of a DAG, newest first. Raises `NotFound`."""
    from flow.ops.references import find_dag

    with deployment.snapshot():
        find_dag(deployment.conn, dag_id)
        return dags.version_page(deployment.conn, dag_id, limit)
