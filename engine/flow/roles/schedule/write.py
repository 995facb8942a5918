"""Writing what was decided, for a batch of runs, in a few set-based statements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from flow.decide import Candidate, Decision, Room, TaskChange, View, admit
from flow.graph import Graph, TaskSpec
from flow.states import FINISHED, OCCUPYING, WAITING, TaskState
from flow.store import callbacks, gates, past, runs, tasks, wakeups
from flow.store.connect import Conn
from flow.store.gates import Gates
from flow.store.runs import EndedRun
from flow.store.tasks import MovedTask, NewTask, StoppedTask


@dataclass(slots=True)
class DecidedRun:
    """One run with what was decided about it. Its row is locked by this transaction."""

    run_key: int
    dag_id: str
    graph: Graph
    view: View
    decision: Decision
    changed: Collection[str] | None
    """What the decision was about; None: anything."""
    paused: bool = False
    chained: bool = False
    past_key: int | None = None
    """The previous run that it has waited for so far."""

    @property
    def limit(self) -> int | None:
        """The run's own limit of active tasks, where it can bind."""
        limit = self.graph.spec.max_active_tasks
        return limit if limit < len(self.graph.tasks) else None

    @property
    def waits_for(self) -> int | None:
        """The previous run that it waits for now. What is not in view may wait still."""
        before = self.view.past
        if self.decision.closed and before is not None:
            return before.run_key
        return None if self.view.complete else self.past_key

    @property
    def heeded(self) -> list[str | None]:
        """What the next run of the chain may be waiting for, of all that has ended; None: all."""
        if not self.chained:
            return []
        if self.changed is None or self.decision.verdict is not None or not self.graph.asks_past:
            return [None]
        ended = {change.task_id for change in self.decision.changes if change.state in FINISHED}
        return [
            *sorted(self.graph.heeded_by(ended | (set(self.changed) & self.graph.tasks.keys())))
        ]


@dataclass(slots=True)
class Written:
    """What a batch did, for notifications and figures."""

    queued: int = 0
    ended: int = 0
    stopped: int = 0
    """Running tasks whose end was asked for."""
    more: bool = False
    """The batch was full: as much again may be due already."""


@dataclass(slots=True)
class _Rows:
    """Rows to write, collected over the runs of a batch."""

    new: list[NewTask] = field(default_factory=list)
    moved: list[MovedTask] = field(default_factory=list)
    stopped: list[StoppedTask] = field(default_factory=list)
    renewed: list[tuple[int, TaskSpec]] = field(default_factory=list)
    ended: list[EndedRun] = field(default_factory=list)
    requeued: list[int] = field(default_factory=list)
    waits: list[tuple[int, str | None, datetime | None]] = field(default_factory=list)
    named: set[tuple[str, str]] = field(default_factory=set)
    callbacks: list[callbacks.NewCallback] = field(default_factory=list)


_MAY_BE_OLD = WAITING | {TaskState.NONE}
"""States in which a row may have been written for another version than its run has now."""


def write(
    conn: Conn, decided: Sequence[DecidedRun], state: Gates, *, fresh: bool = False
) -> Written:
    """Write all decisions of a batch, admitting at once what no shared limit has to judge.

    Tasks in a pool with a size, or of a DAG with a limit over its runs, stay scheduled here and
    leave a wake-up for `flow.roles.schedule.admission`, which takes the locks those limits need.
    `fresh`: the runs are new.
    """
    room = _room(conn, decided, state)
    rows = _Rows()
    queued = sum(_collect(one, room, state, rows) for one in decided)
    tasks.insert(conn, rows.new, fresh=fresh)
    tasks.renew(conn, rows.renewed)
    tasks.move(conn, rows.moved)
    stopped = tasks.stop(conn, rows.stopped)
    queued += _admit_leftovers(conn, decided, room, state, rows.named)
    callbacks.add(conn, rows.callbacks)
    past.remember(
        conn, [(one.run_key, one.waits_for) for one in decided if one.waits_for != one.past_key]
    )
    past.wake_followers(conn, [(one.run_key, task_id) for one in decided for task_id in one.heeded])
    runs.requeue(conn, rows.requeued)
    runs.end(conn, rows.ended)
    wakeups.wake_runs(conn, rows.waits)
    wakeups.wake_named(conn, sorted(rows.named))
    return Written(queued=queued, ended=len(rows.ended), stopped=stopped)


def _room(conn: Conn, decided: Sequence[DecidedRun], state: Gates) -> Room:
    """What the runs' own limits leave, counted from complete views, else in the store."""
    room = Room(served=state.served)
    unknown = []
    for one in decided:
        if one.paused:
            room.runs[one.run_key] = 0
        elif one.limit is not None:
            if one.view.complete:
                active = sum(facts.state in OCCUPYING for facts in one.view.tasks.values())
                room.runs[one.run_key] = one.limit - active
            else:
                unknown.append(one)
    if unknown:
        counts = gates.active_in_runs(conn, [(one.run_key, one.dag_id) for one in unknown])
        for one in unknown:
            room.runs[one.run_key] = (one.limit or 0) - counts.get(one.run_key, 0)
    return room


def _collect(one: DecidedRun, room: Room, state: Gates, rows: _Rows) -> int:
    """Turn one decision into rows; returns how many tasks it queues."""
    queued = 0
    decided = {change.task_id for change in one.decision.changes}
    leftovers = [change for change in _leftovers(one) if change.task_id not in decided]
    changes = [*one.decision.changes, *leftovers]
    ready = [change for change in changes if change.state is TaskState.SCHEDULED]
    admitted = _admit_here(one, ready, room, state)
    for change in changes:
        target = TaskState.QUEUED if change.task_id in admitted else change.state
        if target is change.expected:
            continue  # a leftover that still has to wait
        queued += target is TaskState.QUEUED
        if change.expected is TaskState.QUEUED:
            rows.named |= _gatekeepers(one, change.task_id, state)  # its place is free again
        if change.task_id in one.view.tasks:
            if change.expected in _MAY_BE_OLD and change.state is TaskState.SCHEDULED:
                rows.renewed.append((one.run_key, one.graph.tasks[change.task_id]))
            rows.moved.append(
                MovedTask(one.run_key, change.task_id, change.expected, target, change.reason)
            )
        else:
            spec = one.graph.tasks[change.task_id]
            rows.new.append(NewTask(one.run_key, one.dag_id, spec, target, change.reason))
    for change in ready:
        if change.task_id not in admitted:
            rows.named |= _gatekeepers(one, change.task_id, state)
    if one.graph.spec.concurrency is not None:
        rows.named.add(("dag", one.dag_id))  # what changed may have freed a place in the DAG
    rows.stopped += [
        StoppedTask(one.run_key, stop.task_id, stop.reason) for stop in one.decision.stops
    ]
    if one.decision.past:  # of a fresh run: its tasks ask when it is there to be woken
        rows.waits.append((one.run_key, None, None))
    if one.decision.requeue:
        rows.requeued.append(one.run_key)
        rows.named.add(("dag", one.dag_id))  # the previous run may start
    rows.waits += [(one.run_key, task_id, due_at) for task_id, due_at in one.decision.waits]
    if one.decision.verdict is not None:
        rows.ended.append(
            EndedRun(one.run_key, one.dag_id, one.decision.verdict, one.decision.reason)
        )
        rows.named.add(("dag", one.dag_id))  # a queued run may start
        rows.callbacks += _run_callbacks(one)
    return queued


def _leftovers(one: DecidedRun) -> list[TaskChange]:
    """Tasks in view that were scheduled before and could not be queued then."""
    return [
        TaskChange(task_id, TaskState.SCHEDULED, TaskState.SCHEDULED)
        for task_id, facts in one.view.tasks.items()
        if facts.state is TaskState.SCHEDULED and task_id in one.graph.tasks
    ]


def _admit_here(one: DecidedRun, ready: Sequence[TaskChange], room: Room, state: Gates) -> set[str]:
    """Ids of the ready tasks that may be queued under the run's lock alone."""
    if not ready or one.graph.spec.concurrency is not None:
        return set()
    specs = one.graph.tasks
    in_order = sorted(ready, key=lambda change: (-specs[change.task_id].priority, change.task_id))
    candidates = [
        _candidate(one, change.task_id)
        for change in in_order
        if specs[change.task_id].pool not in state.limited
    ]
    return {candidate.task_id for candidate in admit(candidates, room)}


def _candidate(one: DecidedRun, task_id: str) -> Candidate:
    spec = one.graph.tasks[task_id]
    return Candidate(
        one.run_key, task_id, (), one.dag_id, spec.pool, spec.pool_slots, spec.queue, spec.executor
    )


def _gatekeepers(one: DecidedRun, task_id: str, state: Gates) -> set[tuple[str, str]]:
    """Wake-ups of the limits that have to judge a task which could not be queued here."""
    if one.graph.spec.concurrency is not None:
        return {("dag", one.dag_id)}
    pool = one.graph.tasks[task_id].pool
    return {("pool", pool)} if pool in state.limited else set()


def _admit_leftovers(
    conn: Conn,
    decided: Sequence[DecidedRun],
    room: Room,
    state: Gates,
    named: set[tuple[str, str]],
) -> int:
    """Queue tasks of large runs that an earlier decision left scheduled, outside the view.

    Those in a pool with a size get a wake-up of the pool into `named`: when it was looked at last,
    their run may have been full.
    """
    roomy = [
        one
        for one in decided
        if not one.view.complete
        and one.graph.spec.concurrency is None
        and room.runs.get(one.run_key, 0) > 0
    ]
    places = [(one.run_key, one.dag_id, room.runs[one.run_key]) for one in roomy]
    admitted = admit(gates.ready_in_runs(conn, places, state), room)
    gates.queue(conn, admitted)
    pooled = [
        (one.run_key, one.dag_id, pool)
        for one in roomy
        if room.runs[one.run_key] > 0
        for pool in one.graph.pools & state.limited
    ]
    named |= {("pool", pool) for pool in gates.pools_waited_for(conn, pooled)}
    return len(admitted)


def _run_callbacks(one: DecidedRun) -> list[callbacks.NewCallback]:
    """The run's own callbacks for its verdict, to be run by a worker that serves its leaves."""
    verdict = one.decision.verdict
    kind = "success" if verdict == "success" else "failure"
    if kind not in one.graph.spec.callbacks:
        return []
    leaf = one.graph.tasks[one.graph.leaves[0]] if one.graph.leaves else None
    return [
        callbacks.NewCallback(
            run_key=one.run_key,
            dag_id=one.dag_id,
            kind=kind,
            reason=one.decision.reason or f"the run ended: {verdict}",
            executor=leaf.executor if leaf else "local",
            queue=leaf.queue if leaf else "default",
        )
    ]
