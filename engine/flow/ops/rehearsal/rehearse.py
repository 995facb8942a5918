"""`flow test` from its request to its result."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from flow.graph import Graph
from flow.ops.conf import read_conf
from flow.ops.imagined import imagined_run
from flow.ops.rehearsal import request as words
from flow.ops.rehearsal.definition import Import, Source, choose
from flow.ops.rehearsal.excerpt import excerpt
from flow.ops.rehearsal.memory import Memory
from flow.ops.rehearsal.news import Began, News, Result
from flow.ops.rehearsal.play import Pace, Play, Script
from flow.ops.rehearsal.request import Request
from flow.ops.selection import select
from flow.ops.stage import Stage
from flow.process.jobs import RunInfo
from flow.process.root import root_of
from flow.process.verdict import Limits
from flow.states import RunState


class Settings(NamedTuple):
    """How a rehearsal goes. Durations in seconds."""

    folders: Sequence[Path]
    """DAG folders: a file in one of them imports modules from there."""
    import_timeout: float
    kill_grace: float
    timezone: str = "UTC"
    """Zone of DAGs whose start date names none."""
    wait: bool = True
    """Whether retry delays are waited for."""


def rehearse(request: Request, settings: Settings) -> Iterator[News]:
    """Run the DAG of a file; what happens as it happens, and at last a `Result`.

    When Ctrl-C ends it, the result's state is `running`; every process has ended all the same.
    Raises `ImportFailed`, `NotFound` for a file, DAG or task that is not there, and `UsageError`
    for what cannot be meant.
    """
    target = words.target(request.target)
    conf = read_conf(request.conf)
    memory = Memory(
        os.environ, words.variables(request.variables), words.connections(request.connections)
    )
    root = _root(target.file, settings.folders)
    source = Source(target.file, root, settings.timezone)
    with Stage() as stage:
        imported = Import(stage, memory, source, Limits(settings.import_timeout))
        yield from imported.news()
        spec = choose(imported.dags, target)
        graph = Graph(spec)
        if request.selection is not None:
            graph = Graph(excerpt(graph, select(graph, request.selection)))
        started = datetime.now(UTC)
        run = imagined_run(spec, request.date, started, conf=conf)
        memory.dag_id, memory.run_id = run.dag_id, run.run_id
        pace = Pace(os.cpu_count() or 1, settings.kill_grace, settings.wait)
        play = Play(Script(graph, source, run), memory, stage, pace)
        start, end = run.data_interval_start, run.data_interval_end
        yield Began(run.dag_id, run.run_id, start, end, list(play.parts))
        yield from play.news()
    yield _result(play, run, started, conf)


def _root(file: Path, folders: Sequence[Path]) -> Path:
    """The DAG folder of a file; outside of all the file's own folder."""
    return Path(root_of(str(file), [folder.resolve() for folder in folders]) or file.parent)


def _result(play: Play, run: RunInfo, started: datetime, conf: dict[str, object]) -> Result:
    return Result(
        dag_id=run.dag_id,
        run_id=run.run_id,
        run_type=run.run_type,
        state=(play.verdict or RunState.RUNNING).value,
        reason="interrupted" if play.interrupted else play.reason,
        logical_date=run.logical_date,
        data_interval_start=run.data_interval_start,
        data_interval_end=run.data_interval_end,
        started_at=started,
        ended_at=datetime.now(UTC),
        conf=conf,
        tasks=[part.result() for part in play.parts.values()],
    )
