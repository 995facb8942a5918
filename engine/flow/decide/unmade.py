"""Why a run does not exist: what the schedule says, and what keeps it from going on."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.decide.reason import Code, Fact, Reason
from flow.graph.plan import catchup, plan
from flow.graph.spec import DagSpec
from flow.timetables import Never, Planned, interval_of, neighbours


class DagFacts(NamedTuple):
    """What there is to know of a DAG beside its graph. Dates are aware."""

    dag_id: str
    file: str
    version: int
    present: bool
    paused: bool
    cursor: datetime | None
    running: int
    unfinished: int
    """Runs that have not ended."""
    max_active_runs: int
    schedulers: int
    """Schedulers that are alive."""
    pause_reason: str | None = None
    """Why it is paused, where no person has paused it."""
    import_error: str | None = None
    import_error_since: datetime | None = None
    oldest: str | None = None
    """Of its running runs the one that has run longest, and since when."""
    oldest_since: datetime | None = None


class InBackfill(NamedTuple):
    """How the backfill stands that an interval is in: its running runs, and who goes before it."""

    backfill_id: int
    paused: bool
    running: int
    max_active_runs: int
    ahead: int


def why_no_run(spec: DagSpec, dag: DagFacts, start: datetime | None, now: datetime) -> list[Reason]:
    """Why there is no run of the interval that starts at `start`; None: no newer run than there is.

    What stands in the way of every run of the DAG comes first.
    """
    if isinstance(spec.timetable, Never):
        return [*why_stopped(dag), Reason(Code.NO_SCHEDULE)]
    planned = plan(spec, dag.cursor, now)
    if start is None:
        return [*why_stopped(dag), *_next(spec, dag, planned, now)]
    interval = interval_of(spec.timetable, start, spec.start_date)
    if interval is None:
        near = [one for one in neighbours(spec.timetable, start, spec.start_date) if one]
        nearest = " and ".join(one.isoformat() for one in near) or "none"
        return [Reason(Code.NO_INTERVAL, {"nearest": nearest})]
    if spec.start_date is not None and interval.start < spec.start_date:
        return [Reason(Code.BEFORE_START, {"at": spec.start_date})]
    if spec.end_date is not None and interval.start > spec.end_date:
        return [Reason(Code.AFTER_END, {"at": spec.end_date})]
    if planned is None or interval.start < planned.interval.start:
        return _left_behind(spec, dag, interval.start)
    if interval.start == planned.interval.start:
        return [*why_stopped(dag), *_next(spec, dag, planned, now)]
    if interval.end > now:
        facts: dict[str, Fact] = {"start": interval.start, "at": interval.end}
        return [*why_stopped(dag), Reason(Code.NOT_DUE, facts)]
    behind = Reason(Code.BEHIND, {"start": planned.interval.start})
    return [*why_stopped(dag), *_next(spec, dag, planned, now), behind]


def why_stopped(dag: DagFacts) -> list[Reason]:
    """What keeps a DAG from making or starting any run."""
    reasons = []
    if not dag.present:
        reasons.append(Reason(Code.DAG_GONE, refers_to=dag.dag_id))
    if dag.import_error is not None and dag.import_error_since is not None:
        facts: dict[str, Fact] = {
            "file": dag.file,
            "at": dag.import_error_since,
            "version": dag.version,
            "error": dag.import_error,
        }
        reasons.append(Reason(Code.IMPORT_ERROR, facts, since=dag.import_error_since))
    if dag.paused:
        reasons.append(Reason(Code.DAG_PAUSED, refers_to=dag.dag_id))
        if dag.pause_reason:
            reasons.append(Reason(Code.PAUSE_REASON, {"reason": dag.pause_reason}))
    if not dag.schedulers:
        reasons.append(Reason(Code.NO_SCHEDULER))
    return reasons


def why_no_room(dag: DagFacts) -> list[Reason]:
    """What keeps a queued run of a DAG from starting, beside the runs that stand before it."""
    if dag.running < dag.max_active_runs:
        return []
    return _full(dag, dag.running)


def why_no_turn(backfill: InBackfill) -> list[Reason]:
    """Why an interval of a backfill has not got its run yet, or the run not started."""
    reasons = []
    name = {"backfill": backfill.backfill_id}
    where = f"backfill:{backfill.backfill_id}"
    if backfill.paused:
        reasons.append(Reason(Code.BACKFILL_PAUSED, name, refers_to=where))
    if backfill.running >= backfill.max_active_runs:
        facts = {**name, "used": backfill.running, "limit": backfill.max_active_runs}
        reasons.append(Reason(Code.BACKFILL_FULL, facts, refers_to=where))
    if backfill.ahead:
        facts = {**name, "ahead": backfill.ahead}
        reasons.append(Reason(Code.BACKFILL_TURN, facts, refers_to=where))
    return reasons


def _next(spec: DagSpec, dag: DagFacts, planned: Planned | None, now: datetime) -> list[Reason]:
    """Why the schedule's next run has not been made yet; see `flow.roles.schedule.creation`."""
    if planned is None:
        if spec.end_date is not None:
            return [Reason(Code.AFTER_END, {"at": spec.end_date})]
        return [Reason(Code.NO_MORE_RUNS)]
    if planned.due_at > now:
        return [Reason(Code.NOT_DUE, {"start": planned.interval.start, "at": planned.due_at})]
    if not dag.present or dag.paused or not dag.schedulers:
        return []
    if dag.unfinished >= dag.max_active_runs:
        return _full(dag, dag.unfinished)
    return [Reason(Code.DUE)]


def _full(dag: DagFacts, used: int) -> list[Reason]:
    """That the limit of the DAG is reached, and who has been there longest."""
    facts = {"used": used, "limit": dag.max_active_runs}
    reasons = [Reason(Code.ACTIVE_RUNS, facts, refers_to=dag.dag_id)]
    if dag.oldest is not None and dag.oldest_since is not None:
        holder = f"{dag.dag_id}/{dag.oldest}"
        named: dict[str, Fact] = {"run": holder, "at": dag.oldest_since}
        reasons.append(Reason(Code.OLDEST_RUN, named, dag.oldest_since, holder))
    return reasons


def _left_behind(spec: DagSpec, dag: DagFacts, start: datetime) -> list[Reason]:
    """Why the schedule does not come to an interval any more."""
    reasons = []
    if dag.cursor is not None and start < dag.cursor:
        reasons.append(Reason(Code.PASSED, {"at": dag.cursor}))
    word = catchup(spec)
    if word is not True or not reasons:
        reasons.append(Reason(Code.NOT_CAUGHT_UP, {"catchup": str(word)}))
    return reasons
