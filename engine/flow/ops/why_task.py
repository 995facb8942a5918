"""Why one task instance of a run is as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from flow.decide import Candidate, Decision, View
from flow.decide.endings import why_busy, why_ended
from flow.decide.explain import why_open, why_unrun
from flow.decide.reason import Code, Fact, Reason
from flow.decide.unmade import DagFacts, why_no_room, why_no_turn, why_stopped
from flow.graph import Graph
from flow.graph.index import binding_run_limit
from flow.ops.limits import why_limited
from flow.ops.task_references import TaskReference
from flow.states import FINISHED, RunState, TaskState
from flow.store.connect import Conn
from flow.store.read import standing
from flow.store.read.runs import FoundRun
from flow.store.read.standing import Callback, TaskNow


class Verdict(StrEnum):
    """In one word: it waits, it runs, it has ended, or it is not there."""

    WAITS = "waits"
    RUNS = "runs"
    ENDED = "ended"
    MISSING = "missing"


class TaskAnswer(NamedTuple):
    """Why one task instance is as it is."""

    task_id: str
    map_index: list[int]
    state: TaskState
    verdict: Verdict
    reasons: list[Reason]


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run with all that its tasks have to say, as one snapshot has it."""

    found: FoundRun
    graph: Graph
    rows: list[TaskNow]
    view: View
    decision: Decision
    """What a scheduler would decide now, where the run is running."""
    dag: DagFacts
    callbacks: list[Callback]
    """Those that have not run."""

    @property
    def name(self) -> str:
        """As reasons refer to it."""
        return f"{self.found.run.dag_id}/{self.found.run.run_id}"

    @property
    def state(self) -> RunState:
        """The run's state."""
        return RunState(self.found.run.state)


_HELD: Final = Reason(Code.HELD)
_NO_SCHEDULER: Final = Reason(Code.NO_SCHEDULER)


def why_task(conn: Conn, run: OpenRun, reference: TaskReference) -> TaskAnswer:
    """Explain one task instance; one without a row is in state none."""
    path = list(reference.map_index)
    row = next(
        (one for one in run.rows if (one.task_id, one.map_path) == (reference.task_id, path)), None
    )
    state = TaskState(row.state) if row else TaskState.NONE
    if row is None or state is TaskState.NONE:
        reasons = _open(conn, run, reference.task_id)
    elif state in FINISHED:
        reasons = _ended(run, row)
    elif state is TaskState.SCHEDULED:
        reasons = _ready(conn, run, row)
    elif state is TaskState.QUEUED:
        reasons = _queued(conn, run, row)
    else:
        reasons = why_busy(row)
    verdict = _verdict(state)
    if row is not None and row.held and verdict is Verdict.WAITS and _HELD not in reasons:
        reasons = [_HELD, *reasons]
    if verdict is Verdict.WAITS and not run.dag.schedulers and _NO_SCHEDULER not in reasons:
        reasons = [*reasons, _NO_SCHEDULER]
    reasons = [*reasons, *why_not_called(run, reference.task_id, path)]
    return TaskAnswer(reference.task_id, path, state, verdict, reasons)


def why_not_called(run: OpenRun, task_id: str | None, path: Sequence[int] = ()) -> list[Reason]:
    """Which callbacks nobody will run, of a task instance or of the run itself."""
    reasons = []
    for one in run.callbacks:
        if (one.task_id, one.map_path) != (task_id, list(path)):
            continue
        facts: dict[str, Fact] = {"kind": one.kind}
        if one.given_up is not None:
            facts["reason"] = one.given_up
            reasons.append(Reason(Code.CALLBACK_GIVEN_UP, facts, one.created_at))
        elif not one.served:
            facts |= {"queue": one.queue, "executor": one.executor}
            where = f"queue:{one.queue}"
            reasons.append(Reason(Code.CALLBACK_UNSERVED, facts, one.created_at, where))
    return reasons


def why_not_started(conn: Conn, run: OpenRun) -> list[Reason]:
    """What a queued run waits for: one of a backfill for that, any other for its DAG."""
    made = run.found.run
    paused = [Reason(Code.RUN_PAUSED, refers_to=run.name)] if run.found.paused else []
    backfill = standing.in_backfill(conn, made.dag_id, made.data_interval_start)
    if made.backfill_id is not None and backfill is not None:
        stopped = why_stopped(run.dag._replace(paused=False))
        return [*stopped, *paused, *why_no_turn(backfill)] or [Reason(Code.DUE)]
    reasons = [*why_stopped(run.dag), *paused]
    reasons += why_no_room(run.dag)
    ahead = standing.runs_ahead(conn, run.found.run_key)
    if ahead:
        reasons.append(Reason(Code.RUNS_AHEAD, {"ahead": ahead}))
    return reasons or [Reason(Code.DUE)]


def _verdict(state: TaskState) -> Verdict:
    if state in FINISHED:
        return Verdict.ENDED
    return Verdict.RUNS if state is TaskState.RUNNING else Verdict.WAITS


def _open(conn: Conn, run: OpenRun, task_id: str) -> list[Reason]:
    if run.state is RunState.QUEUED:
        return why_not_started(conn, run)
    return why_open(run.graph, run.view, run.decision, task_id, run.name)


def _ended(run: OpenRun, row: TaskNow) -> list[Reason]:
    owner = _who_skipped(run, row) if row.reason_code == Code.SKIPPED_BY else None
    if owner is not None:
        return [Reason(Code.SKIPPED_BY, {"task": owner}, refers_to=f"{run.name}/{owner}")]
    if row.reason_code == Code.TRIGGER_RULE and row.task_id in run.graph.tasks:
        states = {one.task_id: TaskState(one.state) for one in run.rows if not one.map_path}
        reasons = {one.task_id: one.reason or one.try_reason for one in run.rows}
        return why_unrun(run.graph, states, reasons, row.task_id, run.name)
    return why_ended(row)


def _who_skipped(run: OpenRun, row: TaskNow) -> str | None:
    """The task that chose to skip this one; None where it has been cleared since."""
    owners = (one.task_id for one in run.rows if row.task_id in (one.skips or ()))
    return next(owners, None)


def _ready(conn: Conn, run: OpenRun, row: TaskNow) -> list[Reason]:
    """What keeps a ready task waiting."""
    if row.held:
        return [_HELD]
    if run.found.paused:
        return [Reason(Code.RUN_PAUSED, refers_to=run.name)]
    limit = binding_run_limit(run.graph.spec)
    return why_limited(conn, _candidate(run, row), limit, row) or [Reason(Code.DUE)]


def _candidate(run: OpenRun, row: TaskNow) -> Candidate:
    return Candidate(
        run.found.run_key,
        row.task_id,
        tuple(row.map_path),
        run.found.run.dag_id,
        row.pool,
        0 if row.keeps_slot else row.pool_slots,
        row.queue,
        row.executor,
        row.run_limit,
        row.dag_limit,
        raised=row.turn < 0,
    )


def _queued(conn: Conn, run: OpenRun, row: TaskNow) -> list[Reason]:
    found = standing.workers(conn, row.executor, row.queue)
    where = f"queue:{row.queue}"
    if not found.workers:
        facts = {"queue": row.queue, "executor": row.executor}
        return [Reason(Code.QUEUE_UNSERVED, facts, row.queued_at, where)]
    ahead = standing.ahead_in_queue(conn, run.found.run_key, row)
    queued_at = row.queued_at
    assert queued_at is not None  # the store requires it of queued tasks
    return [
        Reason(
            Code.QUEUED, {"queue": row.queue, "ahead": ahead, "at": queued_at}, queued_at, where
        ),
        Reason(Code.WORKERS, {"queue": row.queue, **found._asdict()}, refers_to=where),
    ]
