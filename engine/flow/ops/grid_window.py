"""Windows of a grid, tasks × runs: some runs of a DAG, with a byte for the state of each task.

A year of a large DAG is a third of a million states. So whoever shows it reads it window by window,
backwards and forwards from a run that it has, keeps a few hundred bytes a run, and afterwards reads
again only what has changed (`refresh`).
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from flow.graph import Graph
from flow.graph.grouping import by_group
from flow.ops.deployment import Deployment
from flow.ops.references import find_dag, load_graphs
from flow.states import FINISHED_RUNS, LOUDEST_FIRST, TaskState
from flow.store import clock, versions
from flow.store.connect import STATEMENT_TIMEOUT, Conn
from flow.store.read import audit, grid
from flow.store.read.audit import Wanted
from flow.store.read.dags import StoredDag
from flow.store.read.grid import GridRun, InstanceStates, Place, RunStates, Tallies

ABSENT: Final = 255
"""In place of a state: the run's version does not have the task."""
MOST_NEW: Final = 100
"""Runs that `refresh` adds at most to those that were seen."""
MOST_INSTANCES: Final = 200
"""Instances of a mapped task that are read for one run at most."""
_MARKING: Final = frozenset({"tasks.mark", "runs.mark"})
_UNCOMMITTED: Final = timedelta(seconds=STATEMENT_TIMEOUT)
"""An audit entry may be seen so much later than its time, because it is written before a commit."""


class GridRow(NamedTuple):
    """A task of a version and the groups that it is inside, outermost first."""

    task_id: str
    groups: tuple[str, ...]


Rows = tuple[GridRow, ...]
"""The tasks of a version in the order in which people read them: upstream first, those of a group
together."""
Known = Mapping[str, Rows]
"""The rows that a reader has already, by graph."""
NOTHING_KNOWN: Final[Known] = {}


class Column(NamedTuple):
    """A run, with a byte for each of the `Rows` of its version.

    The byte is the place in `LOUDEST_FIRST` of the loudest state of the task's instances, or
    `ABSENT`. `graph` names the rows; versions with the same graph share them.
    """

    run: GridRun
    graph: str
    states: bytes
    mapped: dict[str, Tallies]
    """How many instances are in each state, of tasks that are mapped."""


class GridWindow(NamedTuple):
    """Runs that follow each other, oldest first.

    `latest` is the graph of the DAG's latest version. `rows` has the rows of that and of the
    columns' graphs, without those that the reader knows. `more`: further runs follow in the
    direction that was asked for.
    """

    dag_id: str
    timezone: str
    paused: bool
    latest: str
    rows: dict[str, Rows]
    columns: list[Column]
    more: bool
    looked_at: datetime


class Seen(NamedTuple):
    """What somebody has of a grid: runs that follow each other, oldest first; at least one."""

    runs: Sequence[GridRun]
    looked_at: datetime
    newest: bool
    """Whether it has the newest one, so that newer ones belong to it."""


class GridChanges(NamedTuple):
    """What is new or has changed of it, or may have; and the keys of runs that are gone."""

    window: GridWindow
    gone: list[int]


def newest(
    deployment: Deployment, dag_id: str, limit: int, known: Known = NOTHING_KNOWN
) -> GridWindow:
    """The newest runs. Raises `NotFound`."""
    with deployment.snapshot():
        dag = find_dag(deployment.conn, dag_id)
        runs = grid.newest(deployment.conn, dag_id, limit + 1)
        return _window(deployment.conn, dag, runs[-limit:], known, more=len(runs) > limit)


def older(
    deployment: Deployment, dag_id: str, than: Place, limit: int, known: Known = NOTHING_KNOWN
) -> GridWindow:
    """The runs next before a place. Raises `NotFound`."""
    with deployment.snapshot():
        dag = find_dag(deployment.conn, dag_id)
        runs = grid.older(deployment.conn, dag_id, than, limit + 1)
        return _window(deployment.conn, dag, runs[-limit:], known, more=len(runs) > limit)


def newer(
    deployment: Deployment, dag_id: str, than: Place, limit: int, known: Known = NOTHING_KNOWN
) -> GridWindow:
    """The runs next after a place. Raises `NotFound`."""
    with deployment.snapshot():
        dag = find_dag(deployment.conn, dag_id)
        runs = grid.newer(deployment.conn, dag_id, than, limit + 1)
        return _window(deployment.conn, dag, runs[:limit], known, more=len(runs) > limit)


def refresh(
    deployment: Deployment, dag_id: str, seen: Seen, known: Known = NOTHING_KNOWN
) -> GridChanges:
    """What has changed since somebody looked. Raises `NotFound`.

    States are read of runs that are new, unfinished, or have changed, and of those that were
    marked since: in a finished run that may change nothing but a task. At most `MOST_NEW`
    new runs come at once; the window's `more` says that others follow.
    """
    conn = deployment.conn
    with deployment.snapshot():
        dag = find_dag(conn, dag_id)
        limit = len(seen.runs) + MOST_NEW
        found = grid.starting(conn, dag_id, seen.runs[0].place, limit + 1)
        more = len(found) > limit
        found = found[:limit]
        if not seen.newest:
            found = [run for run in found if run.place <= seen.runs[-1].place]
        before = {run.run_key: run for run in seen.runs}
        marked = _marked(conn, dag_id, seen.looked_at)
        changed = [
            run
            for run in found
            if run.state not in FINISHED_RUNS
            or run != before.get(run.run_key)
            or run.run_id in marked
        ]
        window = _window(conn, dag, changed, known, more=more)
    return GridChanges(window, sorted(before.keys() - {run.run_key for run in found}))


def instances(
    deployment: Deployment, run_keys: Sequence[int], task_id: str
) -> list[InstanceStates]:
    """The instances of a mapped task in those runs that have any, `MOST_INSTANCES` of each."""
    with deployment.snapshot():
        return grid.instances(deployment.conn, run_keys, task_id, MOST_INSTANCES)


def state_of(code: int) -> TaskState | None:
    """The state that a byte of a column means; None for `ABSENT`."""
    return None if code == ABSENT else LOUDEST_FIRST[code]


def code_of(state: TaskState) -> int:
    """The byte that means a state."""
    return LOUDEST_FIRST.index(state)


def _marked(conn: Conn, dag_id: str, since: datetime) -> set[str]:
    """The ids of runs whose tasks somebody has given other states."""
    entries = audit.page(conn, Wanted(dag_id, since=since - _UNCOMMITTED), None).rows
    return {entry.target.split("/")[1] for entry in entries if entry.verb in _MARKING}


def _window(
    conn: Conn, dag: StoredDag, runs: Sequence[GridRun], known: Known, *, more: bool
) -> GridWindow:
    looked_at = clock.now(conn)
    graphs = _graphs(conn, dag.dag_id, {run.version for run in runs})
    wanted = {dag.spec_hash, *graphs.values()} - known.keys()
    new = {key: _rows(graph) for key, graph in load_graphs(conn, wanted).items()} if wanted else {}
    rows = ChainMap(new, dict(known))
    read = grid.states(conn, [run.run_key for run in runs]) if runs else []
    return GridWindow(
        dag_id=dag.dag_id,
        timezone=dag.timezone,
        paused=dag.paused,
        latest=dag.spec_hash,
        rows=new,
        columns=[
            _column(run, graphs[run.version], rows[graphs[run.version]], states)
            for run, states in zip(runs, read, strict=True)
        ],
        more=more,
        looked_at=looked_at,
    )


def _graphs(conn: Conn, dag_id: str, numbers: Collection[int]) -> dict[int, str]:
    """The graphs of some versions of a DAG."""
    if not numbers:
        return {}
    hashes = versions.spec_hashes(conn, [(dag_id, number) for number in numbers])
    return {number: spec_hash for (_, number), spec_hash in hashes.items()}


def _rows(graph: Graph) -> Rows:
    in_order = [graph.tasks[task_id] for task_id in graph.order]
    placed = by_group(in_order, graph.spec.groups)
    return tuple(GridRow(task.task_id, groups) for task, groups in placed)


def _column(run: GridRun, graph: str, rows: Rows, read: RunStates) -> Column:
    """A finished run has a row for each task it had; in an unfinished one a task without one is in
    state none."""
    codes = dict(zip(read.task_ids, read.states, strict=True))
    without_row = ABSENT if run.state in FINISHED_RUNS else code_of(TaskState.NONE)
    states = bytes(codes.get(row.task_id, without_row) for row in rows)
    return Column(run, graph, states, read.mapped)
