"""Writing what was decided, for a batch of runs, in a few set-based statements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from flow.decide import Candidate, Room, Shares, TaskChange, admit
from flow.graph import TaskSpec
from flow.graph.index import limits_itself
from flow.roles.schedule.decided import DecidedRun
from flow.states import OCCUPYING, WAITING, RunState, TaskState
from flow.store import callbacks, candidates, gates, past, runs, tasks, wakeups
from flow.store.connect import Conn
from flow.store.gates import Gates
from flow.store.notify import QUEUED, STOP, Notifier
from flow.store.places import Waiting
from flow.store.runs import EndedRun
from flow.store.tasks import MovedTask, NewTask, StoppedTask
from flow.store.upcoming import NOW, Upcoming


@dataclass(slots=True)
class Written:
    """What a batch did, for notifications and figures, and what is to be done after it."""

    done: bool = False
    """There was something to do."""
    queued: int = 0
    ended: int = 0
    stopped: int = 0
    """Running tasks whose end was asked for."""
    more: bool = False
    """The batch was full: as much again may be due already."""
    due: Upcoming = NOW

    def owe(self, notifier: Notifier) -> None:
        """Note that workers have to be told what to take and what to end."""
        if self.queued:
            notifier.owe(QUEUED)
        if self.stopped:
            notifier.owe(STOP)


@dataclass(slots=True)
class _Rows:
    """Rows to write, collected over the runs of a batch."""

    state: Gates
    shares: Shares
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
    conn: Conn,
    decided: Sequence[DecidedRun],
    state: Gates,
    shares: Shares,
    *,
    fresh: bool = False,
) -> Written:
    """Write all decisions of a batch, admitting at once what no shared limit has to judge.

    Tasks of a pool that is not unlimited, of a DAG with a limit over its runs, and those with a
    limit of their own stay scheduled here and leave a wake-up for `flow.roles.schedule.admission`,
    which takes the locks those limits need. What is queued here stands in the queue where its DAG's
    turn is, so being admitted early is no advantage where workers are scarce. `fresh`: the runs are
    new.
    """
    room = _room(conn, decided, state)
    rows = _Rows(state, shares)
    queued = sum(_collect(one, room, rows) for one in decided)
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
    wakeups.wake_runs(conn, rows.waits)
    wakeups.wake_named(conn, sorted(rows.named))
    # Last, because it may take locks of DAGs, with which nobody may be waited for.
    runs.end(conn, rows.ended)
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


def _collect(one: DecidedRun, room: Room, rows: _Rows) -> int:
    """Turn one decision into rows; returns how many tasks it queues."""
    decided = {change.task_id for change in one.decision.changes}
    leftovers = [change for change in _leftovers(one) if change.task_id not in decided]
    changes = [*one.decision.changes, *leftovers]
    ready = [change for change in changes if change.state is TaskState.SCHEDULED]
    admitted = _admit_here(one, ready, room, rows.state)
    queued = _collect_tasks(one, changes, admitted, rows)
    _name_gatekeepers(one, [change for change in ready if change.task_id not in admitted], rows)
    _collect_run(one, rows)
    return queued


def _collect_tasks(
    one: DecidedRun, changes: Sequence[TaskChange], admitted: Collection[str], rows: _Rows
) -> int:
    """The rows of tasks: first ones, or moves of those there are. How many are queued."""
    queued = 0
    for change in changes:
        target = TaskState.QUEUED if change.task_id in admitted else change.state
        if target is change.expected:
            continue  # a leftover that still has to wait
        queued += target is TaskState.QUEUED
        if change.expected is TaskState.QUEUED:
            rows.named |= _gatekeepers(one, change.task_id, rows.state)  # its place is free again
        spec = one.spec(change.task_id)
        waiting = _waiting(one, spec, target, rows)
        if change.task_id in one.view.tasks:
            if change.expected in _MAY_BE_OLD and change.state is TaskState.SCHEDULED:
                rows.renewed.append((one.run_key, spec))
            rows.moved.append(
                MovedTask(
                    one.run_key,
                    change.task_id,
                    change.expected,
                    target,
                    change.reason,
                    waiting,
                    change.code,
                )
            )
        else:
            rows.new.append(
                NewTask(one.run_key, one.dag_id, spec, target, change.reason, waiting, change.code)
            )
    return queued


def _name_gatekeepers(one: DecidedRun, kept: Sequence[TaskChange], rows: _Rows) -> None:
    """Wake the limits that have to judge ready tasks, or may have room again."""
    for change in kept:
        rows.named |= _gatekeepers(one, change.task_id, rows.state)
        if change.expected is not TaskState.SCHEDULED:
            rows.named |= _awaited(one, change.task_id, rows.state)
    if one.view.tasks and (one.limited_dag or one.graph.limits_tasks):
        rows.named.add(("dag", one.dag_id))  # what changed may have freed a place in the DAG


def _collect_run(one: DecidedRun, rows: _Rows) -> None:
    """What becomes of the run itself, of what runs in it, and when it is looked at again."""
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
        if one.decision.verdict is RunState.FAILED:
            rows.named.add(("dag", one.dag_id))  # it may have to be paused
        rows.callbacks += _run_callbacks(one)


def _waiting(one: DecidedRun, spec: TaskSpec, target: TaskState, rows: _Rows) -> Waiting | None:
    """Where a task takes its place: in its queue, in the line for its pool, or nowhere."""
    if target is TaskState.QUEUED:
        pool = None
    elif target is TaskState.SCHEDULED and spec.pool not in rows.state.unlimited:
        pool = spec.pool
    else:
        return None
    return Waiting(
        one.dag_id,
        pool,
        spec.executor,
        spec.queue,
        spec.priority,
        rows.shares.stride(one.dag_id, spec.owner, spec.pool_slots, backfill=one.backfill),
        one.backfill,
        one.alone,
    )


def _leftovers(one: DecidedRun) -> list[TaskChange]:
    """Tasks in view that were scheduled before and could not be queued then."""
    return [
        TaskChange(task_id, TaskState.SCHEDULED, TaskState.SCHEDULED)
        for task_id, facts in one.view.tasks.items()
        if facts.state is TaskState.SCHEDULED and task_id in one.graph.tasks
    ]


def _admit_here(one: DecidedRun, ready: Sequence[TaskChange], room: Room, state: Gates) -> set[str]:
    """Ids of the ready tasks that may be queued under the run's lock alone."""
    if not ready or one.limited_dag:
        return set()
    specs = one.graph.tasks
    free = [
        spec
        for spec in (specs[change.task_id] for change in ready if change.task_id not in one.held)
        if spec.pool in state.unlimited and not limits_itself(spec)
    ]
    if one.run_key not in room.runs:  # only a missing worker can keep them waiting
        return {spec.task_id for spec in free if (spec.executor, spec.queue) in room.served}
    free.sort(key=lambda spec: (-spec.priority, spec.task_id))
    return {task.task_id for task in admit([_candidate(one, spec) for spec in free], room)}


def _candidate(one: DecidedRun, spec: TaskSpec) -> Candidate:
    return Candidate(
        one.run_key,
        spec.task_id,
        (),
        one.dag_id,
        spec.pool,
        spec.pool_slots,
        spec.queue,
        spec.executor,
    )


def _gatekeepers(one: DecidedRun, task_id: str, state: Gates) -> set[tuple[str, str]]:
    """Wake-ups of the limits that have to judge a task which could not be queued here."""
    spec = one.graph.tasks[task_id]
    if spec.pool not in state.unlimited:
        return {("pool", spec.pool)}
    return {("dag", one.dag_id)} if one.limited_dag or limits_itself(spec) else set()


def _awaited(one: DecidedRun, task_id: str, state: Gates) -> set[tuple[str, str]]:
    """A wake-up of the queue of a task that has become ready when no live worker served it.

    One may have registered since the gates were read, and its own wake-up may be served before
    others can see the task.
    """
    spec = one.graph.tasks[task_id]
    return set() if (spec.executor, spec.queue) in state.served else {("queue", spec.queue)}


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
        if not one.view.complete and not one.limited_dag and room.runs.get(one.run_key, 0) > 0
    ]
    places = [(one.run_key, one.dag_id, room.runs[one.run_key]) for one in roomy]
    backfills = {one.run_key for one in roomy if one.backfill}
    found = candidates.ready_in_runs(conn, places, state)
    chosen = set(admit([one.task for one in found], room))
    admitted = [
        one._replace(backfill=one.task.run_key in backfills) for one in found if one.task in chosen
    ]
    candidates.queue(conn, admitted)
    pooled = [
        (one.run_key, one.dag_id, pool)
        for one in roomy
        if room.runs[one.run_key] > 0
        for pool in one.graph.pools.keys() - state.unlimited
    ]
    named |= {("pool", pool) for pool in candidates.pools_waited_for(conn, pooled)}
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
