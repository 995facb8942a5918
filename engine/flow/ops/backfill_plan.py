"""What a backfill would do: pure, so that what is shown and what is done are the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple

from flow.decide.backfill import (
    Action,
    Order,
    Reprocess,
    estimate,
    forced_order,
    in_order,
    turn_of,
)
from flow.enumeration import few
from flow.errors import UsageError
from flow.graph import DagSpec, Graph
from flow.graph.plan import intervals
from flow.states import RunState
from flow.store.read.backfills import Durations, IntervalRun
from flow.timetables import Custom, Interval, Never, Once, latest_complete
from flow.timetables.zone import as_utc, load_zone

MOST: Final = 100_000
"""Intervals of one backfill."""
_NAMED: Final = 3
"""Tasks that a note names."""
MOST_AT_A_TIME: Final = 10
"""Runs at a time where nobody says how many and the DAG itself allows more."""


class Range(NamedTuple):
    """Which intervals are meant, by their starts; the end is included unless `end_excluded`."""

    start: datetime
    end: datetime
    end_excluded: bool
    now: datetime

    def has(self, interval: Interval) -> bool:
        """Whether an interval starts before the range ends."""
        return interval.start < self.end or (interval.start == self.end and not self.end_excluded)


class PlannedInterval(NamedTuple):
    """An interval, what is to happen to it, and the run that it has, if any.

    Dates are in the DAG's time zone. `note` says why it is left alone.
    """

    data_interval_start: datetime
    data_interval_end: datetime
    action: Action
    note: str | None
    run_id: str | None
    run_state: RunState | None


class BackfillPlan(NamedTuple):
    """What a backfill would do, interval by interval in its order.

    `tasks` are those that run, of `dag_tasks` that the DAG has; None: all of them. `estimate_s` is
    how many seconds it will take, going by the DAG's last runs; None: there are none. `notes` say
    what is not as it was asked for, or may not be as it is expected.
    """

    dag_id: str
    intervals: list[PlannedInterval]
    tasks: list[str] | None
    dag_tasks: int
    order: Order
    reprocess: Reprocess
    version: str
    max_active_runs: int
    estimate_s: float | None
    run_s: float | None
    notes: list[str]

    def count(self, action: str) -> int:
        """How many intervals have this action."""
        return sum(one.action == action for one in self.intervals)

    @property
    def runs(self) -> int:
        """How many runs it makes or does again."""
        return len(self.intervals) - self.count(Action.SKIP)


class Asked(NamedTuple):
    """What somebody asks for, with the tasks that a selection has found."""

    order: Order
    reprocess: Reprocess
    version: str
    max_active_runs: int | None
    tasks: list[str] | None


def find_intervals(
    spec: DagSpec, asked: Range, runs: Iterable[IntervalRun]
) -> tuple[list[Interval], list[str]]:
    """The intervals of a range that have ended, in order of time; and what there is to say of it.

    Of a timetable of the user's own those are known that it has told ahead, and those that have got
    runs. Raises `UsageError` where there are none or too many.
    """
    if isinstance(spec.timetable, Never | Once) or spec.timetable.alone:
        raise UsageError(
            f"the schedule of DAG {spec.dag_id!r} ({spec.timetable.words()}) has no intervals to "
            "fill",
            f"a run of it is started with: flow run {spec.dag_id}",
        )
    notes = []
    found: list[Interval] = []
    for interval in intervals(spec, asked.start):
        if not asked.has(interval):
            break
        if spec.timetable.due_at(interval) > asked.now:
            zone = load_zone(spec.timezone)
            first = interval.start.astimezone(zone).isoformat()
            notes.append(f"left out: the interval from {first}, and later ones, have not ended")
            break
        found.append(interval)
        if len(found) > MOST:
            raise UsageError(
                f"these are more than {MOST:,} intervals", "fill them in several backfills"
            )
    if isinstance(spec.timetable, Custom):
        known = (Interval(as_utc(run.start), as_utc(run.end)) for run in runs)
        found = sorted({*found, *(interval for interval in known if asked.has(interval))})
        notes.append(
            "its timetable is asked ahead only: of earlier intervals those are known that have runs"
        )
    if not found:
        raise UsageError(
            f"DAG {spec.dag_id!r} has no interval in that range that has ended"
            + (f"; {notes[-1]}" if isinstance(spec.timetable, Custom) else ""),
            _where_intervals_are(spec, asked.now),
        )
    return found, notes


def _where_intervals_are(spec: DagSpec, now: datetime) -> str:
    """Which intervals could be filled: from the first one to the last one that has ended."""
    listed = f"flow dags next {spec.dag_id} --from DATE"
    first = next(intervals(spec, as_utc(spec.start_date)), None) if spec.start_date else None
    last = latest_complete(spec.timetable, now, spec.start_date)
    end = as_utc(spec.end_date) if spec.end_date else None
    if first is None or last is None or last.start < first.start or (end and last.start > end):
        return f"its intervals are listed by: {listed}"
    zone = load_zone(spec.timezone)
    starts = [one.start.astimezone(zone).isoformat() for one in (first, last)]
    return f"those that have ended start from {starts[0]} to {starts[1]}; all of them: {listed}"


def plan(
    graph: Graph,
    asked: Asked,
    found: Sequence[Interval],
    runs: Mapping[datetime, IntervalRun],
    durations: Durations,
    notes: Sequence[str],
) -> BackfillPlan:
    """What becomes of these intervals, some of which have runs (by their starts)."""
    spec = graph.spec
    order = forced_order(graph, asked.order)
    limit = asked.max_active_runs or min(spec.max_active_runs, MOST_AT_A_TIME)
    planned = [
        _interval(spec, interval, runs.get(interval.start), asked.reprocess)
        for interval in in_order(found, order)
    ]
    working = sum(one.action is not Action.SKIP for one in planned)
    return BackfillPlan(
        dag_id=spec.dag_id,
        intervals=planned,
        tasks=asked.tasks,
        dag_tasks=len(graph.tasks),
        order=order,
        reprocess=asked.reprocess,
        version=asked.version,
        max_active_runs=limit,
        estimate_s=estimate(graph, asked.tasks, durations.run, durations.tasks, working, limit),
        run_s=durations.run,
        notes=[*notes, *_notes(graph, asked, limit, planned)],
    )


def _interval(
    spec: DagSpec, interval: Interval, run: IntervalRun | None, reprocess: Reprocess
) -> PlannedInterval:
    turn = turn_of(run.existing if run else None, reprocess)
    zone = load_zone(spec.timezone)
    return PlannedInterval(
        interval.start.astimezone(zone),
        interval.end.astimezone(zone),
        turn.action,
        turn.note,
        run.existing.run_id if run else None,
        run.existing.state if run else None,
    )


def _notes(graph: Graph, asked: Asked, limit: int, planned: Sequence[PlannedInterval]) -> list[str]:
    notes = []
    dependent = sorted(graph.asks_past)
    if dependent:
        if asked.order == "newest":
            notes.append(
                f"oldest first, not newest: {few(dependent, _NAMED)} depend on their past "
                "(depends_on_past)"
            )
        failed = [
            one
            for one in islice(planned, len(planned) - 1)
            if one.action is Action.SKIP and one.run_state is RunState.FAILED
        ]
        if failed:
            notes.append(
                f"{len(failed)} failed runs are left alone, and what depends on them "
                "(depends_on_past) waits; --reprocess failed does them again"
            )
    if limit > graph.spec.max_active_runs:
        notes.append(
            f"{limit} runs at a time: the DAG's own max_active_runs, "
            f"{graph.spec.max_active_runs}, does not count for a backfill"
        )
    return notes
