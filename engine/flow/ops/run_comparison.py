"""`flow compare`: what differs between two runs of a DAG; the last green and the first red one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from flow.errors import FlowError, NotFound
from flow.graph.compare import FieldChange
from flow.ops.dag_diff import DagDiff, between
from flow.ops.deployment import Deployment
from flow.ops.references import find_dag, find_run, load_graph
from flow.ops.tasks import complete
from flow.states import RunState, TaskState
from flow.store.connect import Conn
from flow.store.read import runs, tasks
from flow.store.read.runs import FoundRun, Run
from flow.store.read.tasks import Task, Try

if TYPE_CHECKING:
    from flow.ops.rendering import RenderFailed, Rendering

OUTLYING: Final = 2.0
"""From so many times as long on, or as short, a duration is an outlier,"""
NOTICEABLE: Final = 1.0
"""if the difference is at least so many seconds."""


class TaskSide(NamedTuple):
    """A task instance in one of the runs, with its last try. `worker` is host:pid."""

    state: str
    try_number: int
    started_at: datetime | None
    ended_at: datetime | None
    duration_s: float | None
    worker: str | None
    code_hash: str | None
    reason: str | None


class TaskPair(NamedTuple):
    """A task instance in both runs; None in one that does not have it.

    `ratio` is how many times as long it took in the second run, `outlier` is "slower" or "faster".
    `fields` are the rendered template fields that differ; None: they were not asked for, or could
    not be rendered, and then `error` says why.
    """

    task_id: str
    map_index: list[int]
    before: TaskSide | None
    after: TaskSide | None
    ratio: float | None
    outlier: str | None
    fields: list[FieldChange] | None = None
    error: str | None = None

    @property
    def differs(self) -> bool:
        """Whether it ended in another way, or took noticeably longer or shorter."""
        if self.before is None or self.after is None:
            return True
        return self.before.state != self.after.state or self.outlier is not None


class RunSide(NamedTuple):
    """One of the runs; `reason` is why it ended so, where somebody said."""

    run: Run
    reason: str | None


class Comparison(NamedTuple):
    """Two runs of a DAG. Tasks stand upstream first; `params` are defaults with conf on top."""

    dag_id: str
    timezone: str
    before: RunSide
    after: RunSide
    versions: DagDiff
    conf: list[FieldChange]
    params: list[FieldChange]
    tasks: list[TaskPair]


def compare(
    deployment: Deployment,
    dag_id: str,
    first: str | None = None,
    second: str | None = None,
    *,
    fields: bool = False,
) -> Comparison:
    """Compare two runs: by default the last success and the first failure after it.

    With only `first`, the last success before it and itself. With `fields` also the template fields
    of unmapped tasks, as the code renders them now. Raises `NotFound`.
    """
    conn = deployment.conn
    with deployment.snapshot():
        dag = find_dag(conn, dag_id)
        before, after = _runs(conn, dag_id, first, second)
        versions = between(conn, dag_id, before.run.version, after.run.version)
        old, new = (_params(conn, run) for run in (before, after))
        found = Comparison(
            dag_id=dag_id,
            timezone=dag.timezone,
            before=RunSide(before.run, before.reason),
            after=RunSide(after.run, after.reason),
            versions=versions,
            conf=differing(before.run.conf, after.run.conf),
            params=differing(old, new),
            tasks=_pairs(_sides(conn, before), _sides(conn, after)),
        )
    return _with_fields(deployment, found) if fields else found


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[FieldChange]:
    """The values that differ, in order of name; one that is missing is None."""
    return [
        FieldChange(name, before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def outlier_of(before: float | None, after: float | None) -> tuple[float | None, str | None]:
    """How many times as long the second duration is, and what kind of outlier that makes it."""
    if before is None or after is None or before <= 0:
        return None, None
    ratio = after / before
    if abs(after - before) >= NOTICEABLE:
        if ratio >= OUTLYING:
            return ratio, "slower"
        if ratio <= 1 / OUTLYING:
            return ratio, "faster"
    return ratio, None


def _runs(
    conn: Conn, dag_id: str, first: str | None, second: str | None
) -> tuple[FoundRun, FoundRun]:
    if first is not None and second is not None:
        return find_run(conn, dag_id, first), find_run(conn, dag_id, second)
    asked = None if first is None else find_run(conn, dag_id, first)
    green = runs.newest(conn, dag_id, RunState.SUCCESS, before=asked)
    listed = f"name two runs; `flow runs list {dag_id}` shows them"
    if green is None:
        when = f" before {asked.run.run_id!r}" if asked else ""
        raise NotFound(f"no run of DAG {dag_id!r} has succeeded{when}", listed)
    red = asked or runs.next_after(conn, dag_id, RunState.FAILED, green)
    if red is None:
        raise NotFound(
            f"no run of DAG {dag_id!r} has failed after its last success, {green.run.run_id!r}",
            f"name a run, to compare it with the success before it: flow compare {dag_id} RUN; "
            f"`flow runs list {dag_id} --state failed` shows those that failed",
        )
    return green, red


def _params(conn: Conn, found: FoundRun) -> dict[str, Any]:
    return {**load_graph(conn, found.spec_hash).spec.params, **found.run.conf}


_Key = tuple[str, tuple[int, ...]]


def _sides(conn: Conn, found: FoundRun) -> dict[_Key, TaskSide]:
    """Every task instance of a run, upstream first."""
    graph = load_graph(conn, found.spec_hash)
    rows = tasks.of_run(conn, found.run_key, found.run.run_id)
    last = {
        (one.task_id, tuple(one.map_index)): one.last
        for one in tasks.last_tries(conn, found.run_key)
    }
    return {
        key: _side(row, last.get(key))
        for row in complete(graph, found.run, rows)
        for key in [(row.task_id, tuple(row.map_index))]
    }


def _side(row: Task, last: Try | None) -> TaskSide:
    duration = None
    if last is not None and last.ended_at is not None:
        duration = (last.ended_at - last.started_at).total_seconds()
    return TaskSide(
        state=row.state,
        try_number=row.try_number,
        started_at=last.started_at if last else None,
        ended_at=last.ended_at if last else None,
        duration_s=duration,
        worker=last.worker if last else None,
        code_hash=last.code_hash if last else None,
        reason=last.reason if last and row.state != TaskState.SUCCESS else None,
    )


def _pairs(before: Mapping[_Key, TaskSide], after: Mapping[_Key, TaskSide]) -> list[TaskPair]:
    """In the order of the second run; what only the first one has comes last."""
    return [_pair(key, before.get(key), after.get(key)) for key in dict.fromkeys([*after, *before])]


def _pair(key: _Key, before: TaskSide | None, after: TaskSide | None) -> TaskPair:
    durations = (side.duration_s if side else None for side in (before, after))
    ratio, outlier = outlier_of(*durations)
    return TaskPair(key[0], list(key[1]), before, after, ratio, outlier)


def _with_fields(deployment: Deployment, found: Comparison) -> Comparison:
    # It loads what runs user code, which a comparison without fields does not need.
    from flow.ops.rendering import render_tasks

    asked = [
        (at, pair.task_id)
        for at, pair in enumerate(found.tasks)
        if pair.before is not None and pair.after is not None and not pair.map_index
    ]
    runs = (found.before.run.run_id, found.after.run.run_id)
    rendered = render_tasks(
        deployment, found.dag_id, [(run, task_id) for _, task_id in asked for run in runs]
    )
    told = list(found.tasks)
    for (at, _), was, now in zip(asked, rendered[::2], rendered[1::2], strict=True):
        told[at] = _with_rendered(told[at], was, now)
    return found._replace(tasks=told)


def _with_rendered(
    pair: TaskPair, before: Rendering | RenderFailed, after: Rendering | RenderFailed
) -> TaskPair:
    if isinstance(before, FlowError):
        return pair._replace(error=before.message)
    if isinstance(after, FlowError):
        return pair._replace(error=after.message)
    return pair._replace(fields=differing(before.fields, after.fields))
