"""From what somebody typed to the DAG, run or task instance that it means.

A run is, tried in this order: `latest` (the greatest interval start, ad hoc runs by creation), a
run id, a date (the run of that interval). Ids that look like a date are refused when runs are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple
from zoneinfo import ZoneInfo

from flow.dates import DateArgument, looks_like_date, parse_date
from flow.errors import Conflict, NotFound, UsageError
from flow.graph import DagSpec, Graph, decode
from flow.ops import broken_files
from flow.ops.run_ids import LATEST
from flow.ops.selection import WILD
from flow.ops.suggest import did_you_mean
from flow.ops.task_references import TaskReference, parse_task_reference
from flow.store import clock, specs
from flow.store.connect import Conn
from flow.store.read import dags, runs
from flow.store.read.dags import StoredDag
from flow.store.read.runs import FoundRun
from flow.timetables.zone import load_zone

_SUGGESTED_FROM = 500


class RunAndGraph(NamedTuple):
    """A run and the graph of the version it is pinned to."""

    found: FoundRun
    graph: Graph


def find_dag(conn: Conn, dag_id: str) -> StoredDag:
    """The DAG of that id, present or not. Raises `NotFound` naming near ids."""
    return find_dags(conn, [dag_id])[0]


def find_dags(conn: Conn, dag_ids: Sequence[str], *, lock: bool = False) -> list[StoredDag]:
    """The DAGs of these ids, in order of id. Raises `NotFound` for the first that is missing.

    It says so when a file that cannot be imported is to blame.
    """
    found = dags.stored(conn, dag_ids, lock=lock)
    known = {dag.dag_id for dag in found}
    for dag_id in dag_ids:
        if dag_id not in known:
            hint = broken_files.hint(conn, dag_id) or did_you_mean(
                dag_id, dags.ids(conn), "`flow dags list` shows all DAGs"
            )
            raise NotFound(f"there is no DAG {dag_id!r}", hint)
    return found


def find_dags_like(conn: Conn, text: str) -> list[StoredDag]:
    """The DAG of that id, or every DAG in its file that a glob names; at least one.

    Raises `NotFound`.
    """
    if not WILD & set(text):
        return [find_dag(conn, text)]
    found = [dag_id for dag_id in dags.ids(conn) if fnmatchcase(dag_id, text)]
    if not found:
        raise NotFound(f"no DAG fits {text!r}", "`flow dags list` shows all DAGs")
    return find_dags(conn, found)


def require_present(dag: StoredDag, consequence: str) -> None:
    """Raise `Conflict` for a DAG that its file does not define any more, so that `consequence`."""
    if not dag.present:
        raise Conflict(
            f"DAG {dag.dag_id!r} is not in its file any more, so {consequence}",
            f"see `flow dags show {dag.dag_id}`",
        )


def zone_of(conn: Conn, dag_id: str | None, default: str) -> ZoneInfo:
    """The zone of dates without an offset: the DAG's, or the `default` where none is named.

    Raises `NotFound`.
    """
    return load_zone(default if dag_id is None else find_dag(conn, dag_id).timezone)


def find_run(conn: Conn, dag_id: str, reference: str) -> FoundRun:
    """The run that `reference` means. Raises `NotFound`, or `UsageError` for an ambiguous day."""
    dag = find_dag(conn, dag_id)
    if reference == LATEST:
        found = runs.latest(conn, dag_id)
        if found is None:
            raise NotFound(f"DAG {dag_id!r} has no run yet", f"start one with `flow run {dag_id}`")
        return found
    by_id = runs.by_id(conn, dag_id, reference)
    if by_id is not None:
        return by_id
    if looks_like_date(reference):
        asked = parse_date(reference, load_zone(dag.timezone), clock.now(conn))
        return _run_of_date(conn, dag_id, reference, asked)
    raise NotFound(f"DAG {dag_id!r} has no run {reference!r}", _instead(conn, dag, reference))


def find_run_and_graph(conn: Conn, dag_id: str, reference: str) -> RunAndGraph:
    """The run that `reference` means, with its graph."""
    found = find_run(conn, dag_id, reference)
    return RunAndGraph(found, load_graph(conn, found.spec_hash))


def find_task(found: RunAndGraph, text: str) -> TaskReference:
    """The task instance that `text` means. Raises `NotFound` naming near ids."""
    run = found.found.run
    otherwise = f"`flow tasks list {run.dag_id} {run.run_id}` shows its tasks"
    return find_task_in(found.graph, run.version, text, otherwise)


def find_task_in(graph: Graph, version: int, text: str, otherwise: str) -> TaskReference:
    """The same for the graph of a version; `otherwise` is the hint where no id is near."""
    reference = parse_task_reference(text)
    if reference.task_id not in graph.tasks:
        raise NotFound(
            f"DAG {graph.spec.dag_id!r} has no task {reference.task_id!r} in version {version}",
            did_you_mean(reference.task_id, list(graph.tasks), otherwise),
        )
    return reference


def load_graph(conn: Conn, spec_hash: str) -> Graph:
    """The graph stored under a hash."""
    return Graph(load_spec(conn, spec_hash))


def load_spec(conn: Conn, spec_hash: str) -> DagSpec:
    """The spec stored under a hash."""
    return decode(specs.load(conn, [spec_hash])[spec_hash])


def load_graphs(conn: Conn, hashes: Iterable[str]) -> dict[str, Graph]:
    """The graphs stored under some hashes."""
    return {key: Graph(decode(body)) for key, body in specs.load(conn, set(hashes)).items()}


def _instead(conn: Conn, dag: StoredDag, reference: str) -> str:
    """What somebody probably meant who named a run that is not there."""
    if reference in load_graph(conn, dag.spec_hash).tasks:
        return f"it has a task {reference!r}; name a run as well: latest, a run id, or a date"
    return did_you_mean(
        reference,
        runs.recent_ids(conn, dag.dag_id, _SUGGESTED_FROM),
        f"`flow runs list {dag.dag_id}` shows its runs; `latest` or a date names one too",
    )


def _run_of_date(conn: Conn, dag_id: str, reference: str, asked: DateArgument) -> FoundRun:
    """The interval run that starts then; a day means the one run that starts in it."""
    found = [
        run
        for run in runs.by_interval(conn, dag_id, asked.start, asked.end)
        if not asked.whole_day or run.run.data_interval_start < asked.end
    ]
    if not found:
        raise NotFound(
            f"DAG {dag_id!r} has no run for the interval that starts at {reference}",
            f"`flow runs list {dag_id}` shows its runs; "
            f"`flow run {dag_id} --date {reference}` makes it",
        )
    if len(found) > 1:
        first = found[-1].run.data_interval_start.astimezone(asked.start.tzinfo)
        raise UsageError(
            f"{len(found)} runs of DAG {dag_id!r} start on {reference}",
            f"name one by its time, such as {first.isoformat(timespec='minutes')}",
        )
    return found[0]
