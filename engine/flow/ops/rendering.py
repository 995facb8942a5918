"""`flow tasks render`: the template fields of a task as its try renders them, but without a try."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from flow.dates import parse_date
from flow.errors import FlowError, NotFound, ProtocolError
from flow.ops.deployment import Deployment
from flow.ops.imagined import imagined_run
from flow.ops.references import (
    RunAndGraph,
    find_dag,
    find_run_and_graph,
    find_task_in,
    load_graph,
)
from flow.ops.run_ids import LATEST
from flow.ops.stage import Interrupted, Output, Stage
from flow.ops.task_references import TaskReference
from flow.process import prctl
from flow.process.environment import TaskUser
from flow.process.events import ChildMessage, JobEnded, ZygoteDied
from flow.process.jobs import RenderJob, RunInfo
from flow.process.messages import Refused, Rendered
from flow.process.root import root_of
from flow.roles.work.requests import answer
from flow.store import clock, dag_intervals
from flow.store.read import dags, runs, tasks
from flow.store.read.dags import StoredDag
from flow.store.read.runs import FoundRun
from flow.timetables.zone import load_zone


class RenderFailed(FlowError):
    """A template field of the task cannot be rendered."""

    code = "render_failed"


class Rendering(NamedTuple):
    """The rendered fields of a task, secrets masked. `run_id` is null where there is no run yet."""

    dag_id: str
    run_id: str | None
    task_id: str
    map_index: list[int]
    fields: dict[str, Any]


class _Asker(NamedTuple):
    """For whom requests are answered. A run that does not exist has key 0."""

    run_key: int
    dag_id: str
    run_id: str


class _Wanted(NamedTuple):
    asker: _Asker
    job: RenderJob


def render(
    deployment: Deployment,
    dag_id: str,
    task: str,
    run: str | None = None,
    date: str | None = None,
) -> Rendering:
    """Render a task for a run, or for the interval that starts at `date`, with or without a run.

    With neither, for the latest run, and where there is none for the latest complete interval.
    Raises `RenderFailed` naming the field, `NotFound`, or `UsageError` for a date that is no
    interval's start.
    """
    with deployment.snapshot():
        wanted = _find(deployment, dag_id, task, run, date)
    (rendered,) = _perform_all(deployment, [wanted])
    if isinstance(rendered, RenderFailed):
        raise rendered
    return rendered


def render_tasks(
    deployment: Deployment, dag_id: str, wanted: Iterable[tuple[str, str]]
) -> list[Rendering | RenderFailed]:
    """Render tasks of runs, given as (run id, task id); in their order. Raises `NotFound`."""
    with deployment.snapshot():
        found = [_find(deployment, dag_id, task, run, None) for run, task in wanted]
    return _perform_all(deployment, found)


def _perform_all(
    deployment: Deployment, wanted: Sequence[_Wanted]
) -> list[Rendering | RenderFailed]:
    # From here on user code runs beside this process, which holds the login.
    prctl.forbid_dump()
    user = deployment.settings.worker.task_user
    with Stage(TaskUser.named(user) if user else None) as stage:
        return [
            _judged(asker, job, _perform(deployment, stage, asker, job)) for asker, job in wanted
        ]


def _judged(asker: _Asker, job: RenderJob, rendered: Rendered) -> Rendering | RenderFailed:
    if rendered.error is not None:
        return RenderFailed(
            f"{TaskReference(job.task_id, tuple(job.map_path))} cannot be rendered: "
            f"{rendered.error}",
            "a try would fail in the same way; mend the template or what it asks for",
        )
    return Rendering(
        dag_id=asker.dag_id,
        run_id=asker.run_id if asker.run_key else None,
        task_id=job.task_id,
        map_index=list(job.map_path),
        fields=json.loads(rendered.fields),
    )


def _find(
    deployment: Deployment, dag_id: str, task: str, run: str | None, date: str | None
) -> _Wanted:
    conn = deployment.conn
    dag = find_dag(conn, dag_id)
    found = _existing_run(deployment, dag, run, date)
    if found is None:
        graph, run_key = load_graph(conn, dag.spec_hash), 0
        spec = dag_intervals.completed(conn, graph.spec)
        info = imagined_run(spec, date, clock.now(conn), version=dag.version)
    else:
        graph, run_key, info = found.graph, found.found.run_key, _info(found.found)
    named = find_task_in(graph, info.version, task, f"`flow dags show {dag_id}` shows its tasks")
    shown = dags.one(conn, dag_id)
    if shown is None:
        raise NotFound(f"DAG {dag_id!r} has been deleted", "`flow dags list` shows all DAGs")
    made = tasks.tries(conn, run_key, named.task_id, named.map_index)
    job = RenderJob(
        run=info,
        task_id=named.task_id,
        map_path=named.map_index,
        try_number=made[-1].try_number if made else 1,
        max_tries=graph.tasks[named.task_id].retries + 1,
        file=shown.file,
        root=root_of(shown.file, deployment.settings.dags.folders),
        timezone=deployment.settings.dags.default_timezone,
    )
    return _Wanted(_Asker(run_key, dag_id, info.run_id), job)


def _existing_run(
    deployment: Deployment, dag: StoredDag, run: str | None, date: str | None
) -> RunAndGraph | None:
    """The run that is meant; None where one has to be imagined."""
    conn = deployment.conn
    if date is not None:
        start = parse_date(date, load_zone(dag.timezone), clock.now(conn)).start
        of_interval = runs.by_interval(conn, dag.dag_id, start, start)
        if not of_interval:
            return None
        return RunAndGraph(of_interval[0], load_graph(conn, of_interval[0].spec_hash))
    if run is None and runs.latest(conn, dag.dag_id) is None:
        return None
    return find_run_and_graph(conn, dag.dag_id, run or LATEST)


def _info(found: FoundRun) -> RunInfo:
    run = found.run
    return RunInfo(
        dag_id=run.dag_id,
        run_id=run.run_id,
        run_type=run.run_type,
        logical_date=run.logical_date,
        data_interval_start=run.data_interval_start,
        data_interval_end=run.data_interval_end,
        run_after=found.run_after,
        started_at=run.started_at,
        conf=json.dumps(run.conf),
        version=run.version,
    )


def _perform(deployment: Deployment, stage: Stage, asker: _Asker, job: RenderJob) -> Rendered:
    """Have a child render, answering what it asks, within the time that an import may take."""
    limit = deployment.settings.parse.timeout
    job_id = stage.start(job)
    deadline = time.monotonic() + limit
    said = ""
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return Rendered(error=f"it took longer than {limit:g} s")
        for happening in stage.wait(left):
            match happening:
                case Output(_, text):
                    said = (said + text)[-_TAIL:]
                case ChildMessage(_, message):
                    reply = answer(
                        deployment.conn, asker, message, deployment.settings.secrets.key_file
                    )
                    try:
                        stage.reply(job_id, reply)
                    except ProtocolError as error:
                        stage.reply(job_id, Refused(error=error.message))
                case Interrupted():
                    raise KeyboardInterrupt
                case JobEnded(result=Rendered() as rendered):
                    return rendered
                case JobEnded() | ZygoteDied():
                    last = said.strip().rpartition("\n")[2]
                    return Rendered(error=f"its process died; it said: {last}" if last else _DIED)


_TAIL = 8 * 1024
"""Characters of output that are kept, to say why a process died."""
_DIED = "its process died without a word"
