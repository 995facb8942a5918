"""`flow test` from its request to its result."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from flow.dates import parse_date
from flow.graph import DagSpec, Graph
from flow.ops import intervals, run_ids
from flow.ops.conf import read_conf
from flow.ops.intervals import Slice
from flow.ops.rehearsal import request as words
from flow.ops.rehearsal.definition import Import, choose
from flow.ops.rehearsal.excerpt import excerpt
from flow.ops.rehearsal.memory import Memory
from flow.ops.rehearsal.news import Began, News, Result
from flow.ops.rehearsal.play import Pace, Play, Script
from flow.ops.rehearsal.request import Request
from flow.ops.rehearsal.stage import Stage
from flow.ops.selection import select
from flow.process.messages import RunInfo
from flow.process.root import root_of
from flow.process.verdict import Limits
from flow.states import RunState, RunType
from flow.timetables import latest_complete
from flow.timetables.zone import load_zone


class Settings(NamedTuple):
    """How a rehearsal goes. Durations in seconds."""

    folders: Sequence[Path]
    """DAG folders: a file in one of them imports modules from there."""
    import_timeout: float
    kill_grace: float
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
    with Stage() as stage:
        imported = Import(stage, memory, target.file, root, Limits(settings.import_timeout))
        yield from imported.news()
        spec = choose(imported.dags, target)
        graph = Graph(spec)
        if request.selection is not None:
            graph = Graph(excerpt(graph, select(graph, request.selection)))
        started = datetime.now(UTC)
        run = _run(spec, _slice(spec, request.date, started), started, conf)
        memory.dag_id, memory.run_id = run.dag_id, run.run_id
        pace = Pace(os.cpu_count() or 1, settings.kill_grace, settings.wait)
        play = Play(Script(graph, target.file, root, run), memory, stage, pace)
        start, end = run.data_interval_start, run.data_interval_end
        yield Began(run.dag_id, run.run_id, start, end, list(play.parts))
        yield from play.news()
    yield _result(play, run, started, conf)


def _root(file: Path, folders: Sequence[Path]) -> Path:
    """The DAG folder of a file; outside of all the file's own folder."""
    return Path(root_of(str(file), [folder.resolve() for folder in folders]) or file.parent)


def _slice(spec: DagSpec, date: str | None, now: datetime) -> Slice:
    """The interval that starts at `date`; without one the latest that is complete."""
    if date is not None:
        return intervals.of_date(spec, parse_date(date, load_zone(spec.timezone), now).start)
    last = latest_complete(spec.timetable, now, spec.start_date)
    return Slice(last.start, last, interval_run=True) if last else intervals.ad_hoc(spec, now)


def _run(spec: DagSpec, slice_: Slice, now: datetime, conf: dict[str, object]) -> RunInfo:
    of_interval = slice_.interval_run
    return RunInfo(
        dag_id=spec.dag_id,
        run_id=run_ids.of_interval(slice_.logical_date) if of_interval else run_ids.ad_hoc(now),
        run_type=RunType.MANUAL,
        logical_date=slice_.logical_date,
        data_interval_start=slice_.interval.start,
        data_interval_end=slice_.interval.end,
        run_after=now,
        started_at=now,
        conf=msgspec.json.encode(conf).decode(),
    )


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
