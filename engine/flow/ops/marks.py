"""`flow tasks mark`: an operator says how tasks ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from flow.decide import RunFacts, TaskFacts, View, decide
from flow.decide.reason import Code
from flow.errors import Conflict
from flow.graph import Graph
from flow.ops.deployment import Change, Deployment
from flow.ops.run_endings import change_tasks
from flow.ops.run_ranges import RunName, Which, find_runs
from flow.ops.run_targets import Target, Targeted, lock_runs, lock_targets
from flow.ops.task_references import TaskReference
from flow.states import OCCUPYING, TASK_TRANSITIONS, RunState, TaskState
from flow.store import audit, clock, gates, marks, notify, past, wakeups
from flow.store.connect import Conn


class MarkedTask(NamedTuple):
    """A task instance whose state was changed."""

    task_id: str
    map_index: tuple[int, ...]
    before: TaskState
    state: TaskState

    @property
    def reference(self) -> TaskReference:
        """What names it within its run."""
        return TaskReference(self.task_id, self.map_index)


class MarkedRun(NamedTuple):
    """What marking changed in one run.

    `after` is the run's state afterwards where that is known at once: in a finished run. `stays`
    are tasks downstream that were not run because of what was marked; clearing runs them.
    """

    dag_id: str
    run_id: str
    before: RunState
    after: RunState | None
    marked: list[MarkedTask]
    unchanged: list[str]
    stays: list[str]


class Marking(NamedTuple):
    """What marking did, or would do, in every run that has one of the tasks."""

    runs: list[MarkedRun]

    @property
    def changes(self) -> int:
        """How many task instances change."""
        return sum(len(run.marked) for run in self.runs)


class _Wanted(NamedTuple):
    of: Targeted
    targets: list[Target]
    """Those that change."""
    states: dict[str, TaskState]
    """Of all tasks of the run, afterwards."""


def mark(
    deployment: Deployment,
    dag: str,
    which: Which,
    selection: str,
    state: TaskState,
    only: Collection[RunName] | None = None,
    *,
    dry_run: bool = False,
) -> Marking:
    """Set the state of task instances, whatever they are doing.

    A running one is taken from its worker: its claim no longer counts, its try is closed, its
    process is stopped. In a finished run the rows change in place and the run is judged anew; an
    unfinished one is looked at by a scheduler. `only` narrows the runs. Raises
    `NotFound`, and `Conflict` for an archived run or a state that cannot be left.
    """
    conn = deployment.conn
    with deployment.change("tasks.mark") as change:
        found = find_runs(conn, dag, which, only)
        targeted = lock_targets(conn, lock_runs(conn, found), selection)
        wanted = [_wanted(one, state) for one in targeted]
        verdicts = {
            one.of.run.run_key: verdict
            for one in wanted
            if one.of.finished and (verdict := _judge(conn, one)) is not None
        }
        changing = [one for one in wanted if one.targets]
        if changing and not dry_run:
            change_tasks(
                conn,
                [(one.of, [(target, state) for target in one.targets]) for one in changing],
                reason(),
                Code.MARKED,
            )
            judged = {
                one.of.run.run_key: verdicts[one.of.run.run_key]
                for one in changing
                if verdicts.get(one.of.run.run_key, one.of.state) is not one.of.state
            }
            marks.judge(conn, judged, reason(), Code.MARKED)
            _wake(conn, changing)
            _announce(change, changing, state, judged)
    return Marking(
        [_shown(one, state, verdicts.get(one.of.run.run_key)) for one in wanted],
    )


def reason() -> str:
    """Why a marked task or run is as it is."""
    return f"marked by {audit.os_user()}"


def _wanted(of: Targeted, state: TaskState) -> _Wanted:
    targets = [target for target in of.targets if target.before is not state]
    for target in targets:
        if state not in TASK_TRANSITIONS[target.before]:
            raise Conflict(
                f"task {target.reference} is {target.before} and cannot be marked {state}",
                "clear it first, or leave it out",
            )
    after = {target.key[1]: state for target in targets if not target.key[2]}
    return _Wanted(of, targets, {**of.states, **after})


def _wake(conn: Conn, changing: Sequence[_Wanted]) -> None:
    """Let a scheduler see what follows, and let pools hand out the slots that became free."""
    past.wake_followers(conn, [(one.of.run.run_key, None) for one in changing if one.of.finished])
    open_ = [one for one in changing if not one.of.finished]
    wakeups.wake_runs(
        conn,
        [
            (one.of.run.run_key, task_id, None)
            for one in open_
            for task_id in sorted({target.key[1] for target in one.targets})
        ],
    )
    gates.wake_freed(
        conn, {target.pool for one in open_ for target in one.targets if target.before in OCCUPYING}
    )


def _announce(
    change: Change,
    changing: Sequence[_Wanted],
    state: TaskState,
    judged: Mapping[int, RunState],
) -> None:
    """Write the audit, with both verdicts of a run that is judged anew, and tell the roles."""
    for one in changing:
        verdict = judged.get(one.of.run.run_key)
        run_before = {} if verdict is None else {"run": one.of.state.value}
        run_after = {} if verdict is None else {"run": verdict.value}
        for target in one.targets:
            change.log(
                f"{one.of.run.dag_id}/{one.of.run.run_id}/{target.reference}",
                {"state": target.before.value, **run_before},
                {"state": state.value, **run_after},
            )
    if any(not one.of.finished for one in changing):
        change.tell(notify.STOP)
    change.tell(notify.WAKE)


def _judge(conn: Conn, one: _Wanted) -> RunState | None:
    """What the run's verdict is with the states that it has afterwards."""
    view = View(tasks={task_id: TaskFacts(state) for task_id, state in one.states.items()})
    facts = RunFacts(now=clock.now(conn), logical_date=one.of.run.logical_date)
    return decide(one.of.graph, facts, (), view).verdict


def _shown(one: _Wanted, state: TaskState, verdict: RunState | None) -> MarkedRun:
    marked = [MarkedTask(*target.reference, target.before, state) for target in one.targets]
    return MarkedRun(
        dag_id=one.of.run.dag_id,
        run_id=one.of.run.run_id,
        before=one.of.state,
        after=verdict,
        marked=marked,
        unchanged=[str(target.reference) for target in one.of.targets if target.before is state],
        stays=_stays(one.of.graph, one.states, [task.task_id for task in marked], state),
    )


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
