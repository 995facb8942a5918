"""`flow why`: what something waits for, or why it ended so. The rules themselves answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from flow.dates import looks_like_date, parse_date
from flow.decide import Decision, RunFacts, TaskFacts, View, decide
from flow.decide.endings import by_hand
from flow.decide.explain import causes_of_leaf
from flow.decide.reason import Code, Reason
from flow.decide.unmade import DagFacts, why_no_run, why_no_turn, why_stopped
from flow.errors import NotFound
from flow.graph import Graph
from flow.graph.plan import intervals
from flow.ops.deployment import Deployment
from flow.ops.references import (
    RunAndGraph,
    find_dag,
    find_run,
    find_task,
    load_graph,
    load_graphs,
)
from flow.ops.task_references import TaskReference
from flow.ops.why_task import (
    OpenRun,
    TaskAnswer,
    Verdict,
    why_not_called,
    why_not_started,
    why_task,
)
from flow.states import FINISHED, FINISHED_RUNS, RunState, TaskState
from flow.store import clock
from flow.store.connect import Conn
from flow.store.looking_back import Asking, look_back
from flow.store.read import standing
from flow.store.read.dags import StoredDag
from flow.store.read.runs import FoundRun
from flow.timetables.zone import load_zone

__all__ = ["Answer", "Code", "Reason", "why"]

SHOWN: Final = 20
"""Unfinished tasks of a run that are explained one by one."""


class Answer(NamedTuple):
    """Why a DAG has no newer run, or a run or task is as it is.

    `state` is that of the task or run; None: there is no run as it was `asked` for. `tasks` are the
    tasks of a run that hold it up, at most `SHOWN`, of so many `unfinished` ones. `timezone` is the
    DAG's.
    """

    dag_id: str
    run_id: str | None
    task_id: str | None
    map_index: list[int]
    state: str | None
    verdict: Verdict
    reasons: list[Reason]
    tasks: list[TaskAnswer]
    unfinished: int
    timezone: str
    asked: str | None = None


def why(
    deployment: Deployment, dag_id: str, reference: str | None = None, task: str | None = None
) -> Answer:
    """Explain a task instance, a run, the absence of a run of a date, or of any newer run.

    Raises `NotFound`.
    """
    conn = deployment.conn
    with deployment.snapshot():
        dag = find_dag(conn, dag_id)
        if reference is None:
            return _of_absence(conn, dag, None)
        try:
            found = find_run(conn, dag_id, reference)
        except NotFound:
            if task is not None or not looks_like_date(reference):
                raise
            return _of_absence(conn, dag, reference)
        run = _open(conn, dag, found)
        if task is None:
            return _of_run(conn, dag, run)
        one = why_task(conn, run, find_task(RunAndGraph(found, run.graph), task))
        return Answer(
            dag.dag_id, found.run.run_id, *one, tasks=[], unfinished=0, timezone=dag.timezone
        )


def _of_absence(conn: Conn, dag: StoredDag, reference: str | None) -> Answer:
    now = clock.now(conn)
    spec = load_graph(conn, dag.spec_hash).spec
    start = None
    if reference is not None:
        asked = parse_date(reference, load_zone(dag.timezone), now)
        first = next(intervals(spec, asked.start), None) if asked.whole_day else None
        start = first.start if first is not None and first.start < asked.end else asked.start
    facts = _facts(conn, dag)
    backfill = standing.in_backfill(conn, dag.dag_id, start) if start is not None else None
    if backfill is None:
        reasons = why_no_run(spec, facts, start, now)
    else:
        stopped = why_stopped(facts._replace(paused=False))
        reasons = [*stopped, *why_no_turn(backfill)] or [Reason(Code.DUE)]
    return _answer(dag, None, None, Verdict.MISSING, reasons)._replace(asked=reference)


def _open(conn: Conn, dag: StoredDag, found: FoundRun) -> OpenRun:
    """A run with its rows, decided anew where it is running."""
    graph = load_graph(conn, found.spec_hash)
    rows = standing.tasks(conn, found.run_key)
    whole = {row.task_id: row for row in rows if not row.map_path}
    view = View(
        tasks={id: TaskFacts(TaskState(row.state), row.due_at) for id, row in whole.items()},
        skips={id: frozenset(row.skips) for id, row in whole.items() if row.skips},
    )
    decision = Decision()
    if found.run.state == RunState.RUNNING:
        decision = _decide(conn, found, graph, view)
    callbacks = standing.callbacks(conn, found.run_key)
    return OpenRun(found, graph, rows, view, decision, _facts(conn, dag), callbacks)


def _decide(conn: Conn, found: FoundRun, graph: Graph, view: View) -> Decision:
    """What a scheduler would decide now; with a complete view it asks only for the past."""
    facts = RunFacts(
        now=clock.now(conn),
        logical_date=found.run.logical_date,
        started_at=found.run.started_at,
        selected=None if found.selected is None else frozenset(found.selected),
        ignores_past=found.ignores_past,
    )
    decision = decide(graph, facts, None, view)
    while decision.past:
        asking = Asking(found.run_key, graph, decision.past, view.past)
        past = look_back(conn, partial(load_graphs, conn), [asking], hold=False)
        view = replace(view, past=past[found.run_key])
        decision = decide(graph, facts, None, view)
    return decision


def _facts(conn: Conn, dag: StoredDag) -> DagFacts:
    """How a DAG stands."""
    found = standing.of_dag(conn, dag.dag_id)
    return DagFacts(
        dag_id=dag.dag_id,
        file=found.file,
        version=dag.version,
        present=dag.present,
        paused=dag.paused,
        cursor=dag.cursor_at,
        running=found.running,
        unfinished=found.unfinished,
        max_active_runs=dag.max_active_runs,
        schedulers=found.schedulers,
        pause_reason=found.pause_reason,
        import_error=found.error,
        import_error_since=found.error_since,
        oldest=found.oldest,
        oldest_since=found.oldest_since,
    )


def _of_run(conn: Conn, dag: StoredDag, run: OpenRun) -> Answer:
    if run.state is RunState.QUEUED:
        return _answer(dag, run, run.state, Verdict.WAITS, why_not_started(conn, run))
    if run.state in FINISHED_RUNS:
        reasons = [*_why_run_ended(run), *why_not_called(run, None)]
        return _answer(dag, run, run.state, Verdict.ENDED, reasons)
    reasons = []
    if run.found.paused:
        reasons.append(Reason(Code.RUN_PAUSED, refers_to=run.name))
    if not run.dag.schedulers:
        reasons.append(Reason(Code.NO_SCHEDULER))
    open_ = [one for one in _instances(run) if one.state not in FINISHED]
    answers = [why_task(conn, run, one.reference) for one in _at_the_front(run, open_)[:SHOWN]]
    return _answer(dag, run, run.state, Verdict.RUNS, reasons)._replace(
        tasks=answers, unfinished=len(open_)
    )


class _Seen(NamedTuple):
    reference: TaskReference
    state: TaskState


def _instances(run: OpenRun) -> list[_Seen]:
    """Every instance of a run, upstream first; a task without a row is in state none."""
    seen = [
        _Seen(TaskReference(r.task_id, tuple(r.map_path)), TaskState(r.state)) for r in run.rows
    ]
    known = {one.reference.task_id for one in seen}
    seen += [_Seen(TaskReference(id), TaskState.NONE) for id in run.graph.order if id not in known]
    rank = run.graph.rank
    return sorted(seen, key=lambda one: (rank.get(one.reference.task_id, -1), one.reference))


def _at_the_front(run: OpenRun, open_: list[_Seen]) -> list[_Seen]:
    """Without those that only wait for tasks that are explained themselves."""
    unfinished = {one.reference.task_id for one in open_}
    return [
        one
        for one in open_
        if one.state is not TaskState.NONE
        or one.reference.task_id in run.decision.closed
        or not unfinished.intersection(run.graph.upstream(one.reference.task_id))
    ]


def _why_run_ended(run: OpenRun) -> list[Reason]:
    reason = run.found.reason
    reasons = []
    if reason:
        code = by_hand(run.found.reason_code) or Code.ENDED
        reasons.append(Reason(code, {"reason": reason}))
    states = {row.task_id: TaskState(row.state) for row in run.rows if not row.map_path}
    leaves = run.graph.leaves
    counts = Counter(states.get(id, TaskState.NONE).value for id in leaves)
    ended = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
    reasons.append(Reason(Code.LEAVES, {"ended": ended}))
    said = {row.task_id: row.reason or row.try_reason for row in run.rows}
    bad = (TaskState.FAILED, TaskState.UPSTREAM_FAILED)
    for leaf in leaves:
        if states.get(leaf) in bad:
            reasons += causes_of_leaf(run.graph, states, said, leaf, run.name)
    return _distinct(reasons)


def _distinct(reasons: list[Reason]) -> list[Reason]:
    """Each cause once, though it may lead to several leaves."""
    found: dict[tuple[Code, str | None], Reason] = {}
    for reason in reasons:
        found.setdefault((reason.code, reason.refers_to), reason)
    return list(found.values())


def _answer(
    dag: StoredDag,
    run: OpenRun | None,
    state: RunState | None,
    verdict: Verdict,
    reasons: list[Reason],
) -> Answer:
    run_id = run.found.run.run_id if run else None
    return Answer(dag.dag_id, run_id, None, [], state, verdict, reasons, [], 0, dag.timezone)
