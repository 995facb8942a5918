"""Arrow 1 of a task's life: due intervals become runs, queued runs start.

A fresh run is decided from the head of its spec alone (`flow.graph.head`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from flow.decide import RunFacts, Shares, View, decide
from flow.graph import DagSpec, Graph
from flow.graph.plan import plan
from flow.roles.schedule.backfilling import advance
from flow.roles.schedule.decided import DecidedRun
from flow.roles.schedule.failing import pause_failing
from flow.roles.schedule.graphs import Graphs
from flow.roles.schedule.write import Written, write
from flow.states import RunState, RunType
from flow.store import (
    dag_intervals,
    gates,
    past,
    runs,
    schedule,
    tasks,
    upcoming,
    versions,
    wakeups,
)
from flow.store.connect import Conn, transaction
from flow.store.gates import Gates
from flow.store.notify import Notifier
from flow.store.runs import Active, NewRun, StartedRun
from flow.store.schedule import DueDag, Position, position
from flow.timetables import Planned

BATCH: Final = 1_000
"""DAGs handled in one transaction. With half as many a midnight burst takes a tenth longer; with
more whatever else is due waits longer than the 90 ms that such a transaction takes."""


class _Fresh(NamedTuple):
    """A run that has just started and has no rows. `alone`: its DAG has no other unfinished run."""

    run_key: int
    dag_id: str
    graph: Graph
    logical_date: datetime
    started_at: datetime
    chained: bool = False
    backfill: bool = False
    ignores_past: bool = False
    priority: int = 0
    alone: bool = False


class _Step(NamedTuple):
    """What is done about one due DAG: where its schedule stands then, and the run it gets."""

    position: Position
    run: NewRun | None = None
    waits: bool = False
    """Runs that are queued already go first: the DAG is woken to start them."""


def create_due(conn: Conn, heads: Graphs, shares: Shares, notifier: Notifier) -> Written:
    """Create the runs that are due, one per DAG."""
    opening = (gates.READ, schedule.take_due(BATCH))
    closing = partial(notifier.settle, upcoming.LOOK)
    with transaction(conn, "schedule.create", opening=opening, closing=closing) as answers:
        state = gates.found(answers.opening)
        answers.opening.nextset()
        due, counts = schedule.due(answers.opening)
        written = Written()
        if due:
            written = _create(conn, heads, due, counts, state, shares)
            written.done, written.more = True, len(due) == BATCH
            written.owe(notifier)
    written.due = upcoming.found(answers.closing)
    return written


def _create(
    conn: Conn,
    heads: Graphs,
    due: Sequence[DueDag],
    counts: Mapping[str, Active],
    state: Gates,
    shares: Shares,
) -> Written:
    """Create what is due of some locked DAGs, as far as their limits of active runs allow."""
    found = heads.get(conn, (dag.spec_hash for dag in due))
    paused = pause_failing(conn, (found[dag.spec_hash].spec for dag in due))
    due = [dag for dag in due if dag.dag_id not in paused]
    specs = dag_intervals.complete(conn, {d.dag_id: found[d.spec_hash].spec for d in due})
    steps = [
        _step(dag, specs[dag.dag_id], counts.get(dag.dag_id, Active()), state.now) for dag in due
    ]
    new = [step.run for step in steps if step.run is not None]
    created = runs.create(conn, new)
    schedule.move(conn, [step.position for step in steps])
    wakeups.wake_named(conn, [("dag", step.position.dag_id) for step in steps if step.waits])
    by_id = {dag.dag_id: found[dag.spec_hash] for dag in due}
    started = [
        _Fresh(
            created[run.dag_id],
            run.dag_id,
            by_id[run.dag_id],
            run.logical_date,
            state.now,
            alone=run.dag_id not in counts,
        )
        for run in new
        if run.state is RunState.RUNNING and run.dag_id in created
    ]
    _wake_later(conn, started, counts)
    return _begin(conn, started, state, shares, created=True)


def _step(dag: DueDag, spec: DagSpec, active: Active, now: datetime) -> _Step:
    """What is done about a DAG that is due."""
    planned = plan(spec, dag.cursor, now)
    if planned is None or planned.due_at > now:
        return _Step(position(dag.dag_id, dag.cursor, planned))
    # One that waits for others cannot be due before the run that is made now has ended.
    following = None if planned.alone else plan(spec, planned.next_cursor, now)
    backlog = planned.alone or (following is not None and following.due_at <= now)
    if backlog and active.unfinished >= dag.max_active_runs:
        # The past waits for room: the DAG is woken when one of its runs ends.
        return _Step(Position(dag.dag_id, dag.cursor, None, None, None))
    # A run that is queued already goes first.
    first = active.running == active.unfinished
    run = _new_run(dag, planned, room=first and active.running < dag.max_active_runs)
    return _Step(position(dag.dag_id, planned.next_cursor, following), run, waits=not first)


def _new_run(dag: DueDag, planned: Planned, *, room: bool) -> NewRun:
    start, end = planned.interval
    return NewRun(
        dag_id=dag.dag_id,
        run_id=f"scheduled__{start.isoformat()}",
        run_type=RunType.SCHEDULED,
        state=RunState.RUNNING if room else RunState.QUEUED,
        version=dag.version,
        logical_date=start,
        start=start,
        end=end,
        interval_run=True,
    )


def _begin(
    conn: Conn, started: Sequence[_Fresh], state: Gates, shares: Shares, *, created: bool
) -> Written:
    """First decision of runs that have just started and have no rows: nothing to read.

    `created`: in this transaction. Of others, somebody may have deleted the rows.
    """
    empty = View()
    decided = []
    for one in started:
        facts = RunFacts(
            state.now,
            fresh=True,
            logical_date=one.logical_date,
            started_at=one.started_at,
            ignores_past=one.ignores_past,
        )
        decision = decide(one.graph, facts, None, empty)
        decided.append(
            DecidedRun(
                one.run_key,
                one.dag_id,
                one.graph,
                empty,
                decision,
                None,
                chained=one.chained,
                backfill=one.backfill,
                priority=one.priority,
                alone=one.alone,
            )
        )
    return write(conn, decided, state, shares, fresh=created)


def _wake_later(
    conn: Conn, started: Sequence[_Fresh | StartedRun], counts: Mapping[str, Active]
) -> None:
    """Wake the runs for which one that starts is a new previous run: those later than it."""
    past.wake_later(
        conn,
        [
            run.run_key
            for run in started
            if (latest := counts.get(run.dag_id, Active()).latest) and run.logical_date < latest
        ],
    )


def start_woken(
    conn: Conn, heads: Graphs, dag_ids: Sequence[str], state: Gates, shares: Shares
) -> tuple[Written, set[str]]:
    """Start queued runs of DAGs, take up a backlog that waited for room, move backfills on.

    Also returns the DAGs that another scheduler holds.
    """
    woken, held = schedule.lock(conn, dag_ids)
    if not woken:
        return Written(), held
    locked = [dag.due for dag in woken if not dag.paused]
    found = heads.get(conn, (dag.spec_hash for dag in locked))
    specs = {dag.dag_id: found[dag.spec_hash].spec for dag in locked}
    paused = pause_failing(conn, specs.values())
    locked = [dag for dag in locked if dag.dag_id not in paused]
    counts = runs.active(conn, [dag.due.dag_id for dag in woken])
    room = {
        dag.dag_id: dag.max_active_runs - counts.get(dag.dag_id, Active()).running for dag in locked
    }
    started = runs.start(conn, room)
    started += advance(conn, [dag.due.dag_id for dag in woken if dag.backfills])
    _wake_later(conn, started, counts)
    written = _begin_or_resume(conn, heads, started, state, shares)
    _take_up_backlog(conn, specs, locked, state)
    return written, held


def _begin_or_resume(
    conn: Conn, heads: Graphs, started: Sequence[StartedRun], state: Gates, shares: Shares
) -> Written:
    """Decide runs that left the queue: fresh ones here, others by their wake-up.

    The first decision about some of its tasks passes over the others, for which it has to see what
    follows them: a head does not say that.
    """
    if not started:
        return Written()
    later = {row.run_key for row in tasks.read_runs(conn, [run.run_key for run in started])}
    later |= {run.run_key for run in started if run.selected is not None}
    wakeups.wake_runs(conn, [(key, None, None) for key in later])
    started = [run for run in started if run.run_key not in later]
    if not started:
        return Written()
    hashes = versions.spec_hashes(conn, [(run.dag_id, run.version) for run in started])
    found = heads.get(conn, hashes.values())
    fresh = [
        _Fresh(
            run.run_key,
            run.dag_id,
            found[hashes[run.dag_id, run.version]],
            run.logical_date,
            run.started_at,
            run.chained,
            run.backfill,
            run.ignores_past,
            run.priority,
        )
        for run in started
    ]
    return _begin(conn, fresh, state, shares, created=False)


def _take_up_backlog(
    conn: Conn, specs: Mapping[str, DagSpec], locked: Sequence[DueDag], state: Gates
) -> None:
    """Plan anew; a DAG whose past had to wait for room becomes due again."""
    specs = dag_intervals.complete(conn, {dag.dag_id: specs[dag.dag_id] for dag in locked})
    schedule.move(
        conn,
        [
            position(dag.dag_id, dag.cursor, plan(specs[dag.dag_id], dag.cursor, state.now))
            for dag in locked
        ],
    )
