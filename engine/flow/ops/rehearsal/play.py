"""Playing a run: decide, start what may go, listen to it, until nothing is left to do."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from flow.decide import NO_PAST, RunFacts, TaskStop, View, deadline, decide, lost, orphaned_callback
from flow.errors import ProtocolError
from flow.graph import Graph
from flow.ops.rehearsal.admission import admit
from flow.ops.rehearsal.definition import Source
from flow.ops.rehearsal.memory import Memory
from flow.ops.rehearsal.news import News, Said, TryEnded, Warned
from flow.ops.rehearsal.part import Part, last_of
from flow.ops.stage import Happening, Interrupted, Output, Stage
from flow.process.ending import ZYGOTE_DIED, StopCause, ending, needs_callback
from flow.process.events import ChildMessage, JobEnded, JobStarted, ZygoteDied
from flow.process.jobs import CallbackJob, LastTask, RunInfo, TaskJob
from flow.process.messages import Outcome
from flow.states import RunState, TaskState

_LAST_WORDS: Final = 5.0
"""Most seconds that tasks have to end themselves after Ctrl-C."""


class Script(NamedTuple):
    """What is played: a graph, where it comes from, and the run."""

    graph: Graph
    source: Source
    run: RunInfo
    line: int
    """Where the file makes the DAG."""


class Pace(NamedTuple):
    """How it is played. `kill_grace` is in seconds, between SIGTERM and SIGKILL."""

    parallel: int
    kill_grace: float
    wait: bool = True
    """Whether retry delays are waited for."""
    pools: Mapping[str, int] = {}
    """Slots by pool; one that is not named has no limit."""
    terminal: str | None = None
    """Device on which failures are looked at; then nothing has a time limit."""


@dataclass(slots=True)
class _Trying:
    part: Part
    deadline: float | None = None
    """When its execution timeout ends, in seconds of CLOCK_MONOTONIC."""
    cause: StopCause | None = None
    stop_reason: str | None = None
    """Why its run ends it."""


@dataclass(slots=True)
class _Calling:
    """A callback in a process of its own."""

    name: str


class Play:
    """One run on a stage. All states are in `parts`; `verdict` is None until it is over."""

    def __init__(self, script: Script, memory: Memory, stage: Stage, pace: Pace) -> None:
        self._script = script
        self._memory = memory
        self._stage = stage
        self._pace = pace
        run, graph = script.run, script.graph
        self.parts = {id: Part(graph.tasks[id], run.dag_id, run.run_id) for id in graph.order}
        self.verdict: RunState | None = None
        self.reason: str | None = None
        self.interrupted = False
        self._deadline = deadline(graph.spec, run.started_at) if pace.terminal is None else None
        self._jobs: dict[int, _Trying | _Calling] = {}

    def news(self) -> Iterator[News]:
        """Play it to its end."""
        self._decide(None, fresh=True)
        while self._jobs or not (self.verdict or self.interrupted):
            self._start_ready()
            for happening in self._stage.wait(self._idle_for()):
                yield from self._hear(happening)
            self._enforce()
            self._wake_due()

    # ── deciding ─────────────────────────────────────────────────────────────────────────────────

    def _decide(self, changed: Iterable[str] | None, *, fresh: bool = False) -> None:
        """Ask what follows from `changed`, with everything in view, and take it on."""
        if self.verdict or self.interrupted:
            return
        now = datetime.now(UTC)
        view = View(
            tasks={
                id: part.facts
                for id, part in self.parts.items()
                if part.state is not TaskState.NONE
            },
            skips={id: part.skips for id, part in self.parts.items() if part.skips},
            past=NO_PAST,
        )
        run = self._script.run
        facts = RunFacts(now, fresh, run.logical_date, run.started_at)
        decision = decide(self._script.graph, facts, changed, view)
        for change in decision.changes:
            self.parts[change.task_id].change(change.state, change.reason, now)
        for stop in decision.stops:
            self._stop(stop)
        if decision.verdict is not None:
            self.verdict, self.reason = decision.verdict, decision.reason
            self._call_back_for_run(decision.verdict)

    def _wake_due(self) -> None:
        """Decide tasks whose wait is over, or the run when its time is."""
        now = datetime.now(UTC)
        if self._deadline is not None and self._deadline <= now:
            self._deadline = None
            self._decide(None)
        due = [id for id, part in self.parts.items() if part.due_at and part.due_at <= now]
        if due:
            self._decide(due)

    def _idle_for(self) -> float | None:
        """Seconds until something is due by itself; None: nothing is."""
        now = datetime.now(UTC)
        moments = [self._deadline, *(part.due_at for part in self.parts.values())]
        due = [(moment - now).total_seconds() for moment in moments if moment]
        clock = time.monotonic()
        due += [
            job.deadline - clock
            for job in self._jobs.values()
            if isinstance(job, _Trying) and job.deadline is not None
        ]
        return max(0.0, min(due)) if due else None

    # ── starting and stopping ────────────────────────────────────────────────────────────────────

    def _start_ready(self) -> None:
        """Start what may go, in the order of admission, as far as the limits allow."""
        if self.interrupted:
            return
        limit = min(self._pace.parallel, self._script.graph.spec.max_active_tasks)
        for part in admit(self.parts.values(), limit - len(self._jobs), self._pace.pools):
            part.begin(datetime.now(UTC))
            self._memory.begin_try(part.task_id)
            self._jobs[self._stage.start(self._try_job(part))] = _Trying(part)

    def _enforce(self) -> None:
        """End tries that have run longer than they may."""
        now = time.monotonic()
        for job_id, job in self._jobs.items():
            if isinstance(job, _Trying) and job.deadline is not None and job.deadline <= now:
                job.deadline, job.cause = None, StopCause.TIMEOUT
                self._stage.stop(job_id, self._pace.kill_grace)

    def _stop(self, stop: TaskStop) -> None:
        """End a try because its run is to end."""
        for job_id, job in self._jobs.items():
            if isinstance(job, _Trying) and job.part.task_id == stop.task_id and job.cause is None:
                job.cause, job.stop_reason = StopCause.STOPPED, stop.reason
                self._stage.stop(job_id, self._pace.kill_grace)

    def _interrupt(self, times: int) -> Iterator[News]:
        """The first time ask everything to end, then end it at once."""
        self.interrupted = True
        if times == 1 and self._jobs:
            yield Warned(f"ending {len(self._jobs)} processes; again ends them at once")
        grace = min(self._pace.kill_grace, _LAST_WORDS) if times == 1 else 0.0
        for job_id in self._jobs:
            self._stage.stop(job_id, grace)

    # ── listening ────────────────────────────────────────────────────────────────────────────────

    def _hear(self, happening: Happening) -> Iterator[News]:
        match happening:
            case Output(job_id, text):
                yield Said(self._name(job_id), text)
            case JobStarted(job_id, pid):
                self._note_start(job_id, pid)
            case ChildMessage():
                self._answer(happening)
            case JobEnded():
                yield from self._end(happening)
            case ZygoteDied(job_ids):
                for job_id in job_ids:
                    yield from self._lose(job_id)
            case Interrupted(times):
                yield from self._interrupt(times)

    def _name(self, job_id: int) -> str:
        job = self._jobs[job_id]
        return job.part.name if isinstance(job, _Trying) else job.name

    def _note_start(self, job_id: int, pid: int) -> None:
        job = self._jobs[job_id]
        if isinstance(job, _Trying):
            job.part.pid = pid
            if job.part.execution_timeout is not None and self._pace.terminal is None:
                job.deadline = time.monotonic() + job.part.execution_timeout

    def _answer(self, question: ChildMessage) -> None:
        job = self._jobs[question.job_id]
        task_id = job.part.task_id if isinstance(job, _Trying) else None
        try:
            self._stage.reply(question.job_id, self._memory.answer(question.message, task_id))
        except ProtocolError:  # the answer is too large for a message
            self._stage.stop(question.job_id, self._pace.kill_grace)

    def _end(self, ended: JobEnded) -> Iterator[News]:
        job = self._jobs.pop(ended.job_id)
        if isinstance(job, _Calling):
            if not (isinstance(ended.result, Outcome) and ended.result.state == "success"):
                yield Warned(f"{job.name} failed")
            return
        part = job.part
        if self.interrupted:
            part.interrupt(datetime.now(UTC))
            return
        found = ending(part, ended, job.cause, job.stop_reason)
        assert found is not None  # no claim of a rehearsal goes stale
        if found.value is not None:
            self._memory.returned(part.task_id, found.value)
        part.end(found, datetime.now(UTC), wait=self._pace.wait)
        yield from self._after(part, needs_callback(found.state, ended))

    def _lose(self, job_id: int) -> Iterator[News]:
        """A job went down with the zygote."""
        job = self._jobs.pop(job_id)
        if isinstance(job, _Calling):
            yield Warned(f"{job.name} failed: {ZYGOTE_DIED}")
            return
        found = lost(job.part, ZYGOTE_DIED)
        job.part.end(found, datetime.now(UTC), wait=self._pace.wait)
        yield from self._after(job.part, orphaned_callback(found.state))

    def _after(self, part: Part, kind: str | None) -> Iterator[News]:
        """What follows the end of a try; `kind` of callback is owed, if any."""
        last = part.tries[-1]
        waits = part.due_at - last.ended_at if part.due_at else None
        retry_in = waits.total_seconds() if waits is not None else None
        yield TryEnded(part.task_id, last.try_number, part.state.value, last.reason, retry_in)
        if kind is not None and kind in part.spec.callbacks:
            self._call_back_for_task(part, kind, last.try_number)
        self._decide([part.task_id])

    # ── jobs ─────────────────────────────────────────────────────────────────────────────────────

    def _try_job(self, part: Part) -> TaskJob:
        return TaskJob(
            run=self._script.run,
            task_id=part.task_id,
            try_number=part.try_number,
            max_tries=part.max_tries,
            file=str(self._script.source.file),
            root=str(self._script.source.root),
            timezone=self._script.source.timezone,
            log="",  # the stage's to say
            terminal=self._pace.terminal,
        )

    def _call_back_for_task(self, part: Part, kind: str, try_number: int) -> None:
        name = f"{part.task_id}: on_{kind}_callback"
        self._call_back(name, kind, part.reason or "failed", part, try_number)

    def _call_back_for_run(self, verdict: RunState) -> None:
        kind = "success" if verdict is RunState.SUCCESS else "failure"
        if kind in self._script.graph.spec.callbacks:
            reason = self.reason or f"the run ended: {verdict}"
            part = last_of(self.parts.values(), failed=verdict is RunState.FAILED)
            last = part.as_last() if part else None
            self._call_back(f"on_{kind}_callback", kind, reason, last=last)

    def _call_back(
        self,
        name: str,
        kind: str,
        reason: str,
        part: Part | None = None,
        try_number: int = 0,
        *,
        last: LastTask | None = None,
    ) -> None:
        job = CallbackJob(
            run=self._script.run,
            task_id=part.task_id if part else None,
            try_number=try_number,
            max_tries=part.max_tries if part else 0,
            last=last,
            file=str(self._script.source.file),
            root=str(self._script.source.root),
            timezone=self._script.source.timezone,
            kind=kind,
            reason=reason,
            log="",  # the stage's to say
        )
        self._jobs[self._stage.start(job)] = _Calling(name)
