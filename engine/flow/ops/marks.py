"""`flow tasks mark`: an operator says how a task ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flow.decide import RunFacts, TaskFacts, View, decide
from flow.errors import Conflict, NotFound
from flow.graph import Graph
from flow.ops.deployment import Change, Deployment
from flow.ops.references import find_run_and_graph
from flow.ops.selection import Selected, select
from flow.ops.task_references import TaskReference
from flow.states import FINISHED_RUNS, OCCUPYING, TASK_TRANSITIONS, RunState, TaskState
from flow.store import audit, clock, gates, marks, notify, past, run_locks, tasks, wakeups
from flow.store.connect import Conn
from flow.store.marks import Mark, Table
from flow.store.read.runs import Run
from flow.store.run_locks import LockedRun
from flow.store.tasks import NewTask


class Marked(NamedTuple):
    """A task instance whose state was changed."""

    task_id: str
    map_index: list[int]
    before: TaskState
    state: TaskState


class Marking(NamedTuple):
    """What marking did, or would do.

    `run_state` is the run's afterwards where that is known at once: in a finished run. `stays` are
    tasks downstream that were not run because of what was marked; clearing runs them.
    """

    run: Run
    marked: list[Marked]
    unchanged: list[str]
    run_state: RunState | None
    stays: list[str]


class _Target(NamedTuple):
    """One instance to change; `has_row`: it is in the store."""

    reference: TaskReference
    before: TaskState
    pool: str
    has_row: bool


def mark(
    deployment: Deployment,
    dag_id: str,
    reference: str,
    selection: str,
    state: TaskState,
    *,
    dry_run: bool = False,
) -> Marking:
    """Set the state of task instances, whatever they are doing.

    A running one is taken from its worker: its claim no longer counts, its try is closed, its
    process is stopped. In a finished run the rows change in place and the run is judged anew; an
    unfinished one is looked at by a scheduler. Raises `NotFound`, and `Conflict` for an archived
    run or a state that cannot be left.
    """
    conn = deployment.conn
    with deployment.change("tasks.mark") as change:
        found, graph = find_run_and_graph(conn, dag_id, reference)
        selected = select(graph, selection)
        locked = _lock(conn, found.run_key)
        finished = RunState(locked.state) in FINISHED_RUNS
        table: Table = "history" if finished else "hot"
        targets = _targets(conn, locked, graph, selected, table)
        wanted = [target for target in targets if target.before is not state]
        for target in wanted:
            _require_transition(target, state)
        states = {
            **marks.states(conn, locked.run_key, table),
            **{one.reference.task_id: state for one in wanted if not one.reference.map_index},
        }
        verdict = _judge(graph, locked, states, conn) if finished else None
        if wanted and not dry_run:
            _write(conn, locked, graph, wanted, state, table)
            if verdict is not None and verdict != locked.state:
                marks.judge(conn, locked.run_key, verdict, _reason())
            if finished:
                past.wake_followers(conn, [(locked.run_key, None)])
            else:
                _wake(conn, locked, wanted)
            _announce(change, locked, wanted, state, finished=finished)
    return Marking(
        run=found.run,
        marked=[
            Marked(one.reference.task_id, list(one.reference.map_index), one.before, state)
            for one in wanted
        ],
        unchanged=[str(one.reference) for one in targets if one.before is state],
        run_state=verdict,
        stays=_stays(graph, states, [one.reference.task_id for one in wanted], state),
    )


def _lock(conn: Conn, run_key: int) -> LockedRun:
    held = run_locks.lock(conn, [run_key])
    if not held:
        raise NotFound("the run has been deleted meanwhile", "there is nothing to mark")
    (locked,) = held
    if locked.archived:
        raise Conflict(
            f"run {locked.run_id!r} is archived, so its tasks cannot be marked",
            f"bring it back first: flow db restore {locked.dag_id} {locked.run_id}",
        )
    return locked


def _targets(
    conn: Conn, run: LockedRun, graph: Graph, selected: Selected, table: Table
) -> list[_Target]:
    """The selected instances, upstream first. Raises `NotFound` for a mapped one without a row."""
    rows: dict[str, list[_Target]] = {}
    for row in marks.lock_tasks(conn, run.run_key, list(selected.instances), table):
        if selected.has(row.task_id, row.map_path):
            named = TaskReference(row.task_id, row.map_path)
            target = _Target(named, TaskState(row.state), row.pool, has_row=True)
            rows.setdefault(row.task_id, []).append(target)
    targets = []
    for task_id, instances in selected.instances.items():
        if task_id in rows:
            targets += rows[task_id]
        elif instances is None:
            pool = graph.tasks[task_id].pool
            targets.append(_Target(TaskReference(task_id), TaskState.NONE, pool, has_row=False))
    missing = {
        TaskReference(task_id, path)
        for task_id, instances in selected.instances.items()
        for path in instances or ()
    } - {target.reference for target in targets}
    if missing:
        raise NotFound(
            f"run {run.run_id!r} has no {', '.join(sorted(map(str, missing)))}",
            f"`flow tasks list {run.dag_id} {run.run_id}` shows its tasks",
        )
    return targets


def _require_transition(target: _Target, state: TaskState) -> None:
    if state not in TASK_TRANSITIONS[target.before]:
        raise Conflict(
            f"task {target.reference} is {target.before} and cannot be marked {state}",
            "clear it first, or leave it out",
        )


def _write(
    conn: Conn,
    run: LockedRun,
    graph: Graph,
    wanted: Sequence[_Target],
    state: TaskState,
    table: Table,
) -> None:
    reason = _reason()
    with_rows = [one for one in wanted if one.has_row]
    changed = marks.mark(
        conn,
        run.run_key,
        [Mark(*one.reference, expected=one.before) for one in with_rows],
        state,
        reason,
        table,
    )
    assert changed == len(with_rows)  # their rows are locked
    tasks.insert(
        conn,
        [
            NewTask(run.run_key, run.dag_id, graph.tasks[one.reference.task_id], state, reason)
            for one in wanted
            if not one.has_row
        ],
    )


def _wake(conn: Conn, run: LockedRun, wanted: Sequence[_Target]) -> None:
    """Let a scheduler see what follows, and let pools hand out the slots that became free."""
    changed = sorted({one.reference.task_id for one in wanted})
    wakeups.wake_runs(conn, [(run.run_key, task_id, None) for task_id in changed])
    gates.wake_freed(conn, (one.pool for one in wanted if one.before in OCCUPYING))


def _announce(
    change: Change,
    run: LockedRun,
    wanted: Sequence[_Target],
    state: TaskState,
    *,
    finished: bool,
) -> None:
    for one in wanted:
        change.log(
            f"{run.dag_id}/{run.run_id}/{one.reference}",
            {"state": one.before.value},
            {"state": state.value},
        )
    if not finished:
        change.tell(notify.STOP)
    change.tell(notify.WAKE)


def _judge(
    graph: Graph, run: LockedRun, states: dict[str, TaskState], conn: Conn
) -> RunState | None:
    """What the run's verdict is with these states."""
    view = View(tasks={task_id: TaskFacts(state) for task_id, state in states.items()})
    facts = RunFacts(now=clock.now(conn), logical_date=run.logical_date)
    return decide(graph, facts, (), view).verdict


def _stays(
    graph: Graph, states: dict[str, TaskState], marked: Sequence[str], state: TaskState
) -> list[str]:
    """Tasks below that rest as upstream_failed though what they waited for is success now."""
    if state is not TaskState.SUCCESS:
        return []
    below = graph.descendants(marked)
    return [
        task_id
        for task_id in graph.order
        if task_id in below and states.get(task_id) is TaskState.UPSTREAM_FAILED
    ]


def _reason() -> str:
    return f"marked by {audit.os_user()}"
