"""Arrow 2 of a task's life: wake-ups of runs are taken, their runs decided, the changes written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from flow.decide import Decision, RunFacts, Shares, TaskFacts, View, decide
from flow.graph import Graph
from flow.roles.schedule.decided import DecidedRun
from flow.roles.schedule.graphs import Graphs
from flow.roles.schedule.write import Written, write
from flow.states import TaskState
from flow.store import gates, holding, runs, tasks, upcoming, wakeups
from flow.store.connect import Conn, transaction
from flow.store.gates import Gates
from flow.store.looking_back import Asking, look_back
from flow.store.notify import Notifier
from flow.store.runs import TakenRun, Woken
from flow.store.tasks import TaskRow
from flow.store.wakeups import BUSY_AGAIN

BATCH: Final = 1_000
"""Wake-ups taken at once. One task per pass costs ten times one of twenty."""
WHOLE: Final = 64
"""Runs of up to so many tasks are read whole: cheaper than asking for neighbours twice."""


@dataclass(slots=True)
class _OpenRun:
    """A locked run in the course of being decided."""

    run: TakenRun
    graph: Graph
    changed: set[str] | None
    """None: anything may have changed."""
    view: View = field(default_factory=View)
    decision: Decision = field(default_factory=Decision)

    @property
    def selected(self) -> frozenset[str] | None:
        """The tasks that are to run; None: all of them."""
        return None if self.run.selected is None else frozenset(self.run.selected)


def decide_woken(conn: Conn, graphs: Graphs, shares: Shares, notifier: Notifier) -> Written:
    """Take due wake-ups of runs and decide what follows."""
    opening = (gates.READ, runs.take_woken(BATCH, WHOLE))
    closing = partial(notifier.settle, upcoming.LOOK)
    with transaction(conn, "schedule.decide", opening=opening, closing=closing) as answers:
        state = gates.found(answers.opening)
        answers.opening.nextset()
        woken = runs.woken(answers.opening)
        written = Written()
        if woken.runs:
            written = _decide_taken(conn, graphs, woken, state, shares)
            written.owe(notifier)
        written.done, written.more = woken.wakeups > 0, woken.wakeups == BATCH
    written.due = upcoming.found(answers.closing)
    return written


def _decide_taken(
    conn: Conn, graphs: Graphs, woken: Woken, state: Gates, shares: Shares
) -> Written:
    """Decide runs that this transaction holds, and write what follows."""
    found = graphs.get(conn, (run.spec_hash for run in woken.runs))
    open_runs = [
        _OpenRun(run, found[run.spec_hash], woken.changed[run.run_key]) for run in woken.runs
    ]
    _first_views(conn, open_runs, woken)
    busy = _decide(conn, graphs, open_runs, state)
    wakeups.wake_runs(conn, [wake for one in busy for wake in _again(one, state)])
    put_off = {one.run.run_key for one in busy}
    held = holding.held(conn, [run.run_key for run in woken.runs if run.holds])
    return write(
        conn,
        [
            DecidedRun(one.run.run_key, one.run.dag_id, one.graph, one.view, one.decision,
                       one.changed, one.run.paused, one.run.chained, one.run.past_key,
                       one.run.backfill, one.run.priority, one.run.limited,
                       held=held.get(one.run.run_key, ()))
            for one in open_runs if one.run.run_key not in put_off
        ],
        state,
        shares,
    )  # fmt: skip


def _first_views(conn: Conn, open_runs: list[_OpenRun], woken: Woken) -> None:
    """Views of whole runs where they are small or anything may have changed, else of what is near.

    The rows of most small runs came with their locks.
    """
    whole: list[_OpenRun] = []
    near: list[tuple[_OpenRun, Iterable[str]]] = []
    for one in open_runs:
        rows = woken.tasks.get(one.run.run_key)
        if one.changed is not None and len(one.graph.tasks) > WHOLE:
            near.append((one, _neighbourhood(one)))
        elif rows is None:
            whole.append(one)
        else:
            one.view = _whole_view(rows)
    _read_whole(conn, whole)
    _read_near(conn, near, first=True)


def _again(one: _OpenRun, state: Gates) -> list[tuple[int, str | None, datetime | None]]:
    """The wake-ups of a run once more, for a little later."""
    later = state.now + timedelta(seconds=BUSY_AGAIN)
    changed = [None] if one.changed is None else sorted(one.changed)
    return [(one.run.run_key, task_id, later) for task_id in changed]


def _decide(conn: Conn, graphs: Graphs, open_runs: list[_OpenRun], state: Gates) -> list[_OpenRun]:
    """Decide every run, reading what the decisions ask for beyond their first views.

    Returns those about which nothing can be decided now: somebody else holds their previous run.
    """
    waiting = open_runs
    busy: list[_OpenRun] = []
    rounds = 0
    while waiting:
        for one in waiting:
            facts = RunFacts(
                now=state.now,
                logical_date=one.run.logical_date,
                started_at=one.run.started_at,
                selected=one.selected,
                ignores_past=one.run.ignores_past,
            )
            one.decision = decide(one.graph, facts, one.changed, one.view)
        waiting = [one for one in waiting if one.decision.undecided]
        unanswered = _read_past(conn, graphs, [one for one in waiting if one.decision.past])
        busy += unanswered.values()
        waiting = [one for one in waiting if one.run.run_key not in unanswered]
        rounds += 1
        # A cascade that has left the view twice is probably long: read such a run whole.
        _read_whole(conn, [o for o in waiting if o.decision.everything or rounds > 2])
        asking = [o for o in waiting if not (o.decision.everything or rounds > 2)]
        _read_near(conn, [(o, o.decision.unseen) for o in asking if o.decision.unseen])
        _read_census(conn, [o for o in asking if o.decision.census])
    return busy


def _neighbourhood(one: _OpenRun) -> set[str]:
    """The tasks that changed, their successors, and the upstream tasks of those."""
    changed = {task_id for task_id in one.changed or () if task_id in one.graph.tasks}
    below = {id for task_id in changed for id in one.graph.downstream[task_id]}
    beside = {id for task_id in below for id in one.graph.upstream(task_id)}
    return changed | below | beside


def _read_whole(conn: Conn, open_runs: list[_OpenRun]) -> None:
    if not open_runs:
        return
    by_run: dict[int, list[TaskRow]] = {one.run.run_key: [] for one in open_runs}
    for row in tasks.read_runs(conn, list(by_run)):
        by_run[row.run_key].append(row)
    for one in open_runs:
        one.view = replace(_whole_view(by_run[one.run.run_key]), past=one.view.past)


def _read_near(
    conn: Conn, asked: list[tuple[_OpenRun, Iterable[str]]], *, first: bool = False
) -> None:
    """Add the named tasks to the views; at first also the tasks that chose to skip others."""
    keys = [(one.run.run_key, task_id) for one, task_ids in asked for task_id in task_ids]
    if not keys:
        return
    rows = tasks.read_tasks(conn, keys)
    if first:
        rows += tasks.read_skips(conn, [one.run.run_key for one, _ in asked])
    by_run: dict[int, list[TaskRow]] = {}
    for row in rows:
        by_run.setdefault(row.run_key, []).append(row)
    for one, task_ids in asked:
        found = by_run.get(one.run.run_key, [])
        before = one.view
        known = (frozenset() if first else before.looked_up) or frozenset()
        one.view = View(
            tasks={**({} if first else before.tasks), **_facts(found)},
            looked_up=known | frozenset(task_ids) | {row.task_id for row in found},
            skips={**before.skips, **_skips(found)},
            unfinished=before.unfinished,
            past=before.past,
        )


def _read_census(conn: Conn, open_runs: list[_OpenRun]) -> None:
    if not open_runs:
        return
    unfinished = tasks.with_unfinished(conn, [(o.run.run_key, o.run.dag_id) for o in open_runs])
    for one in open_runs:
        one.view = replace(one.view, unfinished=one.run.run_key in unfinished)


def _read_past(conn: Conn, graphs: Graphs, open_runs: list[_OpenRun]) -> dict[int, _OpenRun]:
    """Add the past of the tasks that ask for it; the runs for which it cannot be read now."""
    asking = [
        Asking(one.run.run_key, one.graph, one.decision.past, one.view.past) for one in open_runs
    ]
    found = look_back(conn, lambda hashes: graphs.get(conn, hashes), asking, hold=True)
    for one in open_runs:
        if one.run.run_key in found:
            one.view = replace(one.view, past=found[one.run.run_key])
    return {one.run.run_key: one for one in open_runs if one.run.run_key not in found}


def _whole_view(rows: Iterable[TaskRow]) -> View:
    """A complete view."""
    return View(tasks=_facts(rows), skips=_skips(rows))


def _facts(rows: Iterable[TaskRow]) -> dict[str, TaskFacts]:
    return {row.task_id: TaskFacts(TaskState(row.state), row.due_at) for row in rows}


def _skips(rows: Iterable[TaskRow]) -> dict[str, frozenset[str]]:
    return {row.task_id: frozenset(row.skips) for row in rows if row.skips}
