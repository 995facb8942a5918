"""`flow test` from its request to its result."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from flow.graph import Graph
from flow.ops.conf import read_conf
from flow.ops.exchange import connections_in
from flow.ops.imagined import imagined_run
from flow.ops.rehearsal import request as words
from flow.ops.rehearsal.admission import check_slots
from flow.ops.rehearsal.comparison import Round, compare, proven
from flow.ops.rehearsal.definition import Import, Source, choose
from flow.ops.rehearsal.excerpt import excerpt
from flow.ops.rehearsal.measuring import Measuring
from flow.ops.rehearsal.memory import Memory, Stored
from flow.ops.rehearsal.news import Again, Began, News, OutputResult, Result, Warned
from flow.ops.rehearsal.play import Pace, Play, Script
from flow.ops.rehearsal.request import Request
from flow.ops.selection import select
from flow.ops.stage import Stage
from flow.process.messages import Measured
from flow.process.root import root_of
from flow.process.verdict import Limits
from flow.states import RunState, TaskState


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
    jobs: int | None = None
    """How many processes may run at once; None: as many as there are processors."""
    variables: Mapping[str, object] = {}
    """As an export has them; what is given for a rehearsal and the environment come first."""
    connections: Mapping[str, object] = {}
    """As an export has them; what is given for a rehearsal and the environment come first."""
    pools: Mapping[str, int] = {}
    """Slots by pool; what is given for a rehearsal comes first."""
    terminal: str | None = None
    """Device on which a debugger is opened when a task fails; then one runs at a time, without any
    time limit."""


def rehearse(request: Request, settings: Settings) -> Iterator[News]:
    """Run the DAG of a file; what happens as it happens, and at last a `Result`.

    When Ctrl-C ends it, the result's state is `running`; every process has ended all the same.
    Raises `ImportFailed`, `NotFound` for a file, DAG or task that is not there, and `UsageError`
    for what cannot be meant.
    """
    target = words.target(request.target)
    conf = read_conf(request.conf)
    stored = Stored(words.texts_of(settings.variables), connections_in(settings.connections))
    given = words.given_variables(request), words.given_connections(request)
    memory = Memory(os.environ, *given, stored)
    pools = {**settings.pools, **words.pools(request)}
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
        check_slots(graph, pools)
        pace = _pace(settings, pools)
        start, end = run.data_interval_start, run.data_interval_end
        yield Began(run.dag_id, run.run_id, start, end, list(graph.order))
        line = next(dag.line for dag in imported.dags if dag.spec.dag_id == spec.dag_id)
        rehearsal = _Rehearsal(Script(graph, source, run, line), memory, stage, pace)
        yield from rehearsal.once()
        if request.idempotent:
            yield from rehearsal.again()
    yield rehearsal.result(started, conf)


def _pace(settings: Settings, pools: Mapping[str, int]) -> Pace:
    terminal = settings.terminal
    parallel = 1 if terminal is not None else settings.jobs or os.cpu_count() or 1
    return Pace(parallel, settings.kill_grace, settings.wait, pools, terminal)


def _root(file: Path, folders: Sequence[Path]) -> Path:
    """The DAG folder of a file; outside of all the file's own folder."""
    return Path(root_of(str(file), [folder.resolve() for folder in folders]) or file.parent)


class _Rehearsal:
    """The run of a request, once or twice."""

    def __init__(self, script: Script, memory: Memory, stage: Stage, pace: Pace) -> None:
        self._script = script
        self._memory = memory
        self._stage = stage
        self._pace = pace
        self._play = Play(script, memory, stage, pace)
        self._outputs: list[OutputResult] | None = None
        self._interrupted = False

    def once(self) -> Iterator[News]:
        """Run the tasks."""
        yield from self._play.news()
        self._interrupted = self._play.interrupted

    def again(self) -> Iterator[News]:
        """Run the tasks once more and compare, if they have succeeded."""
        if self._play.interrupted:
            return
        if self._play.verdict is not RunState.SUCCESS:
            yield Warned("the run has failed, so it is not run again and nothing is compared")
            return
        measured = yield from self._measure()
        if self._interrupted:
            return
        first = Round(self._play.parts, measured)
        yield Again(list(first.parts))
        # The time limit of a run counts from its start.
        restarted = msgspec.structs.replace(self._script.run, started_at=datetime.now(UTC))
        script = self._script._replace(run=restarted)
        self._play = Play(script, self._memory, self._stage, self._pace)
        yield from self.once()
        measured = yield from self._measure()
        if not self._interrupted:
            self._outputs = compare(first, Round(self._play.parts, measured))

    def _measure(self) -> Generator[News, None, dict[str, Measured]]:
        """What the tasks that have succeeded have left."""
        if self._interrupted:
            return {}
        measuring = Measuring(self._script, self._memory, self._stage, self._pace.parallel)
        yield from measuring.news(
            id
            for id, part in self._play.parts.items()
            if part.spec.outlets and part.state is TaskState.SUCCESS
        )
        self._interrupted = measuring.interrupted
        return measuring.found

    def result(self, started: datetime, conf: dict[str, object]) -> Result:
        """What it came to."""
        play, run = self._play, self._script.run
        state = RunState.RUNNING if self._interrupted else play.verdict or RunState.RUNNING
        return Result(
            dag_id=run.dag_id,
            run_id=run.run_id,
            run_type=run.run_type,
            state=state.value,
            reason="interrupted" if self._interrupted else play.reason,
            logical_date=run.logical_date,
            data_interval_start=run.data_interval_start,
            data_interval_end=run.data_interval_end,
            started_at=started,
            ended_at=datetime.now(UTC),
            conf=conf,
            tasks=[part.result() for part in play.parts.values()],
            outputs=self._outputs or [],
            idempotent=proven(self._outputs) if self._outputs is not None else None,
            file=str(self._script.source.file),
            line=self._script.line,
        )
