"""`decide`: what follows, for one run, from what changed in it.

A pure function of the graph, the run's facts, the tasks that changed and a `View` of the states
around them. It runs skip cascades to their fixpoint. When it needs a state that the view does not
hold, it says so in `Decision.unseen` (or `census`, or `everything`) and decides nothing: the
caller looks it up and asks again. So a run of 10,000 tasks costs no more per task than one of 100,
and a caller with a complete view is never asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from flow.decide.decision import Decision, TaskChange, TaskStop
from flow.decide.past import past_gate
from flow.decide.reason import Code, Reason
from flow.decide.rules import Outlook, outlook, tally
from flow.decide.stopping import deadline, stop_gate
from flow.decide.view import View
from flow.decide.window import not_selected, outside_window
from flow.graph.index import Graph
from flow.graph.spec import TaskSpec
from flow.states import FINISHED, HELD, WAITING, RunState, TaskState


class RunFacts(NamedTuple):
    """What deciding needs of the run itself."""

    now: datetime
    """Database time of the decision."""
    fresh: bool = False
    """No task of the run has a row yet."""
    logical_date: datetime | None = None
    """What the windows of its tasks are compared with; None: none of them binds."""
    started_at: datetime | None = None
    """From when its time limit counts; None: there is none."""
    selected: frozenset[str] | None = None
    """The tasks that are to run; None: all of them."""
    ignores_past: bool = False
    """Its tasks wait for no past."""


def decide(graph: Graph, run: RunFacts, changed: Iterable[str] | None, view: View) -> Decision:
    """Decide what follows from `changed` (task ids; None: anything may have changed).

    Ids in `changed` that the graph does not have are ignored (a task of another version).
    """
    return _Step(graph, run, view).decide(changed)


_AT_REST = FINISHED | {TaskState.NONE}
_UNSAID: tuple[None, None] = (None, None)


class _Step:
    """The working state of one decision."""

    def __init__(self, graph: Graph, run: RunFacts, view: View) -> None:
        self.graph = graph
        self.run = run
        self.view = view
        self.new: dict[str, TaskState] = {}
        self.reasons: dict[str, tuple[str, Code | None]] = {}
        self.unseen: set[str] = set()
        self.closed: dict[str, Reason] = {}
        self.past: set[str] = set()
        self.waits: list[tuple[str | None, datetime]] = []
        self._outlooks: dict[int, Outlook] = {}
        self._skipped_by = {
            task_id: owner
            for owner, task_ids in view.skips.items()
            if self.state(owner) is TaskState.SUCCESS
            for task_id in task_ids
        }

    def state(self, task_id: str) -> TaskState:
        return self.new.get(task_id) or self.view.facts(task_id).state

    def decide(self, changed: Iterable[str] | None) -> Decision:
        stop = self._stop()
        if stop is not None:
            return self._wind_down(stop) if self.view.complete else Decision(everything=True)
        looked_at = self._cascade(self._first_candidates(changed))
        over = not self.unseen and self._may_be_over(looked_at)
        if self.unseen:
            return Decision(unseen=frozenset(self.unseen))
        if self.past and not self.run.fresh:
            return Decision(past=frozenset(self.past))
        decision = Decision(closed=self.closed, waits=self.waits, past=frozenset(self.past))
        if over:
            if not self.view.complete:
                if self.view.unfinished is None:
                    return Decision(census=True)
                if not self.view.unfinished:
                    return Decision(everything=True)
            elif self.closed:
                decision.requeue = self._makes_room
            else:
                self._judge(decision)
        if changed is None and decision.verdict is None:
            self._note_deadline()
        decision.changes = self._changes()
        return decision

    def _changes(self) -> list[TaskChange]:
        return [
            TaskChange(
                task_id,
                self.view.facts(task_id).state,
                state,
                *self.reasons.get(task_id, _UNSAID),
            )
            for task_id, state in self.new.items()
        ]

    # ── the end of a run before that of its tasks ────────────────────────────────────────────────

    def _stop(self) -> Reason | None:
        """Why the whole run is to end, as far as one sees."""
        tasks = self.view.tasks
        failed = (id for id in tasks if tasks[id].state is TaskState.FAILED)
        return stop_gate(self.graph.spec, self.run.started_at, self.run.now, failed)

    def _wind_down(self, stop: Reason) -> Decision:
        """Skip what has not begun, have what runs ended, and then the run has failed."""
        text = stop.text()
        decision = Decision()
        for task_id in self.graph.order:
            state = self.state(task_id)
            if state in HELD:
                decision.stops.append(TaskStop(task_id, text))
            elif state not in FINISHED:
                self._end(task_id, TaskState.SKIPPED, text)
        decision.changes = self._changes()
        if any(change.expected is TaskState.QUEUED for change in decision.changes):
            # A worker may be claiming it at this moment: then it runs, and has to be ended.
            decision.waits.append((None, self.run.now))
        elif not decision.stops:
            decision.verdict, decision.reason = RunState.FAILED, text
        return decision

    def _note_deadline(self) -> None:
        until = deadline(self.graph.spec, self.run.started_at)
        if until is not None:
            self.waits.append((None, until))

    # ── readiness ────────────────────────────────────────────────────────────────────────────────

    def _first_candidates(self, changed: Iterable[str] | None) -> Iterable[str]:
        """Tasks whose own state or upstream changed."""
        graph = self.graph
        if changed is None:
            return graph.starters if self.run.fresh else graph.order
        known = dict.fromkeys(task_id for task_id in changed if task_id in graph.tasks)
        self.unseen |= self.view.missing(known)
        candidates = dict.fromkeys(known)
        for task_id in known:
            if self.state(task_id) in FINISHED:
                candidates.update(dict.fromkeys(graph.downstream[task_id]))
        candidates.update(dict.fromkeys(id for id in self._skipped_by if id in graph.tasks))
        return candidates

    def _cascade(self, first: Iterable[str]) -> set[str]:
        """Decide tasks and whatever follows from them; returns every task looked at.

        Upstream first: a task is looked at when all that this decision says about its upstream is
        said, so the result does not depend on what happened to be looked at before.
        """
        looked_at = set(first)
        if self.run.fresh:
            waiting: list[tuple[int, str]] = []
            self._look_at(first, waiting, looked_at)
        else:
            rank = self.graph.rank
            waiting = [(rank[task_id], task_id) for task_id in looked_at]
            heapify(waiting)
        while waiting:
            self._look_at((heappop(waiting)[1],), waiting, looked_at)
        return looked_at

    def _look_at(
        self, task_ids: Iterable[str], waiting: list[tuple[int, str]], looked_at: set[str]
    ) -> None:
        """Decide some tasks; add to `waiting` the successors of those that finished by it."""
        for task_id in task_ids:
            missing = self.view.missing((task_id,))
            if missing:
                self.unseen |= missing
                continue
            before = self.state(task_id)
            if before in WAITING:
                self._wake(task_id)
            elif before is TaskState.NONE and self._settle(task_id):
                for below in self.graph.downstream[task_id]:
                    self._outlooks.pop(self.graph.group[below], None)
                    if below not in looked_at:
                        looked_at.add(below)
                        heappush(waiting, (self.graph.rank[below], below))

    def _wake(self, task_id: str) -> None:
        """Schedule a waiting task when it is due, else note when it will be."""
        due_at = self.view.facts(task_id).due_at
        if due_at is None or due_at <= self.run.now:
            self.new[task_id] = TaskState.SCHEDULED
        else:
            self.waits.append((task_id, due_at))

    def _settle(self, task_id: str) -> bool:
        """Decide one task in state none; True when it has finished without running."""
        spec = self.graph.tasks[task_id]
        owner = self._skipped_by.get(task_id)
        if owner is not None:
            return self._skip(spec, f"skipped by {owner}", Code.SKIPPED_BY)
        found = self._outlook(task_id)
        if found is Outlook.WAIT:
            return False
        if found is Outlook.RUN:
            passed_over = self._passed_over(spec)
            if passed_over is not None:
                self._end(task_id, TaskState.SKIPPED, passed_over)
                return True
            if self._past_holds(spec):
                return False
            self.new[task_id] = TaskState.SCHEDULED if spec.runs_code else TaskState.SUCCESS
            return not spec.runs_code
        reason = f"trigger rule {spec.trigger_rule}"
        if found is Outlook.SKIP:
            return self._skip(spec, reason, Code.TRIGGER_RULE)
        self._end(task_id, TaskState.UPSTREAM_FAILED, reason, Code.TRIGGER_RULE)
        return True

    def _passed_over(self, spec: TaskSpec) -> str | None:
        """Why the run passes a task over whose turn has come; None: it does not."""
        return not_selected(spec, self.run.selected) or outside_window(spec, self.run.logical_date)

    def _skip(self, spec: TaskSpec, reason: str, code: Code) -> bool:
        """Skip a task, unless it is to wait for its past before that; whether it was skipped."""
        if spec.wait_for_past_depends_before_skipping and self._past_holds(spec):
            return False
        self._end(spec.task_id, TaskState.SKIPPED, reason, code)
        return True

    def _end(self, task_id: str, state: TaskState, reason: str, code: Code | None = None) -> None:
        """End a task without running it."""
        self.new[task_id] = state
        self.reasons[task_id] = reason, code

    def _past_holds(self, spec: TaskSpec) -> bool:
        """Whether a task has to wait for its past, or for a look at it."""
        if not spec.depends_on_past or self.run.ignores_past:
            return False
        past = self.view.past
        if past is None or not past.knows(spec.task_id):
            self.past.add(spec.task_id)
            return True
        reason = past_gate(spec, past)
        if reason is not None:
            self.closed[spec.task_id] = reason
        return reason is not None

    @property
    def _makes_room(self) -> bool:
        return self.view.past is not None and self.view.past.waits_for_room

    def _outlook(self, task_id: str) -> Outlook:
        """What the trigger rule says; tasks that wait for the same thing share one evaluation.

        Whether an upstream task was passed over follows from its own outlook, which is found
        first; a stack, because a chain of such tasks may be long.
        """
        group = self.graph.group
        waiting = [task_id]
        while group[task_id] not in self._outlooks:
            current = waiting[-1]
            first = [
                id for id in self._maybe_passed_over(current) if group[id] not in self._outlooks
            ]
            if first:
                waiting += first
            else:
                self._outlooks[group[waiting.pop()]] = self._evaluate(current)
        return self._outlooks[group[task_id]]

    def _evaluate(self, task_id: str) -> Outlook:
        """What the trigger rule says, once the outlooks that it depends on are known."""
        spec = self.graph.tasks[task_id]
        missing = self.view.missing(spec.upstream)
        if missing:
            # Nothing of this decision counts before they have been looked up.
            self.unseen |= missing
            return Outlook.WAIT
        passed_over = {
            id
            for id in self._maybe_passed_over(task_id)
            if self._outlooks[self.graph.group[id]] is Outlook.RUN
        }
        states = [
            TaskState.SUCCESS if id in passed_over else self.state(id) for id in spec.upstream
        ]
        return outlook(spec.trigger_rule, tally(states))

    def _maybe_passed_over(self, task_id: str) -> list[str]:
        """Upstream tasks that were skipped, and not by choice, in a run that passes them over."""
        if not self.graph.windowed and self.run.selected is None:
            return []
        return [
            id
            for id in self.graph.tasks[task_id].upstream
            if self.state(id) is TaskState.SKIPPED
            and id not in self._skipped_by
            and self._passed_over(self.graph.tasks[id]) is not None
        ]

    def _may_be_over(self, looked_at: set[str]) -> bool:
        """Whether nothing is left to do: surely, with a complete view; else as far as one sees."""
        if not self.view.complete:
            return not self._newly_unfinished() and all(
                self.state(task_id) in FINISHED or (task_id in self.closed and self._makes_room)
                for task_id in looked_at
            )
        if not all(self.state(task_id) in _AT_REST for task_id in self.graph.tasks):
            return False
        # A task in state none here is stuck, or its change was never announced: look once more.
        self._cascade([id for id in self.graph.tasks if self.state(id) is TaskState.NONE])
        return not self._newly_unfinished() and not self.past

    def _newly_unfinished(self) -> bool:
        return any(state not in FINISHED for state in self.new.values())

    def _judge(self, decision: Decision) -> None:
        """The verdict of a run in which nothing is left to do: its leaves decide."""
        stuck = [id for id in self.graph.tasks if self.state(id) is TaskState.NONE]
        for task_id in stuck:
            reason = "nothing is left that could start it"
            self._end(task_id, TaskState.UPSTREAM_FAILED, reason, Code.TRIGGER_RULE)
        bad = {TaskState.FAILED, TaskState.UPSTREAM_FAILED}
        failed = any(self.state(id) in bad for id in self.graph.leaves)
        decision.verdict = RunState.FAILED if failed or stuck else RunState.SUCCESS
        decision.reason = "deadlocked" if stuck else None
