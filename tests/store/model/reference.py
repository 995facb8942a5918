"""What Flow has to do with runs, tasks and tries, in plain words of Python: obvious, and slow.

Written from the tables of the design, not from the product: a dict of runs, each with a dict of
tasks. It is told who has committed something and what stands in the database now. What operators
and workers do it knows exactly; what a scheduler does it demands to be something that follows from
states which were there while that scheduler's transaction was under way.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from model.shapes import Dag, Node, outlook

FINAL = {"success", "failed", "skipped", "upstream_failed"}
HELD = {"running", "restarting"}
ACTIVE = HELD | {"queued"}
RUN_FINAL = {"success", "failed"}
FREE_LOSSES = 3


class RunId(NamedTuple):
    """A run."""

    dag_id: str
    run_id: str


class TaskId(NamedTuple):
    """A task of a run."""

    run: RunId
    task_id: str


@dataclass
class Task:
    """A task of a run. `tries` has the state of each try by number."""

    state: str = "none"
    claim: int = 0
    worker: int | None = None
    tries: dict[int, str] = field(default_factory=dict)
    retries_left: int = 0
    losses: int = 0
    skips: tuple[str, ...] = ()
    """What it chose to skip."""

    @property
    def number(self) -> int:
        """Of its last try."""
        return max(self.tries, default=0)

    def close(self, state: str) -> None:
        """End the open try, if there is one."""
        if self.tries.get(self.number) == "running":
            self.tries[self.number] = state


@dataclass
class Run:
    """A run, with all tasks of its DAG."""

    key: int
    state: str
    logical_date: datetime
    interval_run: bool
    tasks: dict[str, Task]


class Seen(NamedTuple):
    """A task as the database has it."""

    state: str
    claim: int
    worker: int | None
    tries: dict[int, str]


NOTHING = Seen("none", 0, None, {})


class SeenRun(NamedTuple):
    """A run as the database has it; tasks in state none may be absent."""

    key: int
    state: str
    logical_date: datetime
    interval_run: bool
    tasks: dict[str, Seen]


class Fate(NamedTuple):
    """How the process of a try ended: success, skipped, failed, fatal (fails without retries),
    lost (with its zygote), lease_expired, drained."""

    how: str
    worker: int
    skips: tuple[str, ...] = ()


class Moment(NamedTuple):
    """What stood in the database once."""

    runs: dict[RunId, Run]
    paused: frozenset[str]


class Reference:
    """All DAGs with their runs."""

    def __init__(self, dags: Mapping[str, Dag], pools: Mapping[str, int]) -> None:
        self.dags = dags
        self.pools = dict(pools)
        self.paused: set[str] = set()
        self.runs: dict[RunId, Run] = {}
        self.stopping: dict[TaskId, tuple[int, int]] = {}
        """Processes that are to be dead before their task runs again: number of the try, worker."""
        self.over: set[int] = set()
        """Workers that have ended, or were taken for lost."""
        self.moments: list[Moment] = []
        self.note()

    def note(self) -> None:
        """Remember this moment."""
        self.moments.append(Moment(copy.deepcopy(self.runs), frozenset(self.paused)))

    def task(self, id: TaskId) -> Task:
        return self.runs[id.run].tasks[id.task_id]

    def node(self, id: TaskId) -> Node:
        return self.dags[id.run.dag_id].nodes[id.task_id]

    def all_tasks(self) -> Iterable[tuple[TaskId, Task]]:
        for run_id, run in self.runs.items():
            for task_id, task in run.tasks.items():
                yield TaskId(run_id, task_id), task

    # ── operators ────────────────────────────────────────────────────────────────────────────────

    def make(self, run_id: RunId, seen: SeenRun) -> None:
        """A run was made, by hand or for its interval."""
        nodes = self.dags[run_id.dag_id].nodes
        tasks = {id: Task(retries_left=node.retries) for id, node in nodes.items()}
        self.runs[run_id] = Run(seen.key, "queued", seen.logical_date, seen.interval_run, tasks)

    def mark(self, id: TaskId, state: str) -> None:
        """The task has ended so, whatever it is doing; in an ended run its verdict follows."""
        run, task = self.runs[id.run], self.task(id)
        if task.state == state:
            return
        self._take_away(id, task)
        task.close(state)
        task.state = state
        if run.state in RUN_FINAL:
            run.state = self.verdict(id.run)

    def clear(self, run_id: RunId, task_ids: Collection[str]) -> None:
        """The tasks are decided anew, with all their retries, once their processes are dead."""
        run = self.runs[run_id]
        chosen = [id for id in task_ids if run.tasks[id].state not in ("none", "restarting")]
        for task_id in chosen:
            id, task = TaskId(run_id, task_id), run.tasks[task_id]
            if task.state == "running":
                task.state = "restarting"
            elif id in self.stopping and self.stopping[id][1] not in self.over:
                task.state, task.worker = "restarting", self.stopping[id][1]
            else:
                task.close("restarted")
                task.state = "none"
            task.retries_left, task.losses, task.skips = self.node(id).retries, 0, ()
        if chosen and run.state in RUN_FINAL:
            run.state = "queued"

    def cancel(self, run_id: RunId) -> None:
        """The run ends now: what has not ended is skipped."""
        run = self.runs[run_id]
        for task_id, task in run.tasks.items():
            if task.state not in FINAL:
                self._take_away(TaskId(run_id, task_id), task)
                task.close("skipped")
                task.state = "skipped"
        run.state = "failed"

    def _take_away(self, id: TaskId, task: Task) -> None:
        """Its process, if it has one, does not count any more."""
        if task.state in HELD and task.worker is not None and id not in self.stopping:
            self.stopping[id] = task.number, task.worker
        task.worker = None

    # ── workers ──────────────────────────────────────────────────────────────────────────────────

    def claimed(self, task: Task, seen: Seen, worker: int) -> None:
        """A queued task was taken: another try, of the next number, under a new claim."""
        assert seen.claim > task.claim, "a hand-over without a new claim"
        task.state, task.worker = "running", worker
        task.tries[task.number + 1] = "running"

    def ended(self, id: TaskId, fate: Fate) -> None:
        """The end of a try that counts was reported."""
        task = self.task(id)
        task.worker = None
        if task.state == "restarting":
            task.close("restarted")
            task.state = "none"
        elif fate.how in ("success", "skipped"):
            task.close(fate.how)
            task.state, task.losses, task.skips = fate.how, 0, fate.skips
        elif fate.how in ("failed", "fatal"):
            self._fail(task, may_retry=fate.how == "failed")
        else:
            self._lose(task, fate.how)

    def lost(self, id: TaskId) -> None:
        """Somebody else found that the worker of a task is gone."""
        self.ended(id, Fate("lost", 0))

    def dead(self, id: TaskId) -> None:
        """A process that did not count any more is dead."""
        del self.stopping[id]
        task = self.task(id)
        if task.state == "restarting":
            task.state, task.worker = "none", None

    def _fail(self, task: Task, *, may_retry: bool = True) -> None:
        task.close("failed")
        task.losses = 0
        if may_retry and task.retries_left > 0:
            task.state = "up_for_retry"
            task.retries_left -= 1
        else:
            task.state = "failed"

    def _lose(self, task: Task, how: str) -> None:
        """A loss costs no retry, three times in a row."""
        if task.losses == FREE_LOSSES:
            self._fail(task)
            return
        task.close(how)
        task.losses += 1
        task.state = "scheduled"

    # ── schedulers ───────────────────────────────────────────────────────────────────────────────

    def scheduled(self, seen: Mapping[RunId, SeenRun], since: int) -> None:
        """A scheduler has committed a transaction that began at moment `since`."""
        moments = self.moments[since:]
        queued = set()
        for run_id, now in seen.items():
            if run_id not in self.runs:
                assert self.dags[run_id.dag_id].intervals, f"{run_id} was made by nobody"
                assert now.interval_run
                self.make(run_id, now)
            run = self.runs[run_id]
            for task_id, after in now.tasks.items():
                task, id = run.tasks[task_id], TaskId(run_id, task_id)
                if after.state != task.state:
                    self._require(id, task.state, after.state, moments)
                    if after.state == "queued":
                        queued.add(id)
                    task.state = after.state
            if now.state != run.state:
                self._require_run(run_id, run.state, now.state, moments)
                run.state = now.state
        self._require_room(queued)
        started = {id for id in seen if id in self.runs and self.runs[id].state == "running"}
        started -= {id for id, run in self.moments[-1].runs.items() if run.state == "running"}
        for dag_id in {id.dag_id for id in started}:
            running = [
                1 for id, r in self.runs.items() if (id.dag_id, r.state) == (dag_id, "running")
            ]
            assert len(running) <= self.dags[dag_id].max_active_runs, f"too many runs of {dag_id}"

    def _require(self, id: TaskId, before: str, after: str, moments: list[Moment]) -> None:
        what = f"{id} went from {before} to {after}"
        if before == "none":
            wanted = "scheduled" if after == "queued" else after
            assert any(wanted in self.follows(id, moment) for moment in moments), what
        else:
            assert (before, after) in {
                ("scheduled", "queued"), ("queued", "scheduled"),
                ("up_for_retry", "scheduled"), ("up_for_retry", "queued"),
            }, what  # fmt: skip

    def follows(self, id: TaskId, moment: Moment) -> set[str]:
        """What may become of a task in state none: by what has ended, and what that entails."""
        run = moment.runs.get(id.run, self.runs[id.run])
        fresh = id.run not in moment.runs
        states = {task_id: "none" if fresh else task.state for task_id, task in run.tasks.items()}
        found = {self._says(id, states, moment)}
        for task_id, state in states.items():  # upstream first
            if state == "none":
                said = self._says(TaskId(id.run, task_id), states, moment)
                states[task_id] = said if said in FINAL else "none"
        return found | {self._says(id, states, moment)}

    def _says(self, id: TaskId, states: Mapping[str, str], moment: Moment) -> str:
        node = self.node(id)
        run = moment.runs.get(id.run)
        for owner, task in (run.tasks if run else {}).items():
            if states[owner] == "success" and id.task_id in task.skips:
                return "skipped"
        said = outlook(node.rule, [states[above] for above in node.above])
        if said != "run":
            return said
        if node.asks_past and not self._past_lets_go(id, moment):
            return "wait"
        return "scheduled" if node.works else "success"

    def _past_lets_go(self, id: TaskId, moment: Moment) -> bool:
        before = self.previous(id.run, moment)
        return before is None or before.tasks[id.task_id].state in ("success", "skipped")

    def previous(self, run_id: RunId, moment: Moment) -> Run | None:
        """The run before it in the chain of its DAG."""
        me = self.runs[run_id]
        scheduled = self.dags[run_id.dag_id].intervals > 0
        if scheduled and not me.interval_run:
            return None
        chain = [
            run
            for id, run in moment.runs.items()
            if id.dag_id == run_id.dag_id
            and (run.interval_run or not scheduled)
            and (run.logical_date, run.key) < (me.logical_date, me.key)
        ]
        return max(chain, key=lambda run: (run.logical_date, run.key), default=None)

    def _require_run(self, run_id: RunId, before: str, after: str, moments: list[Moment]) -> None:
        what = f"{run_id} went from {before} to {after}"
        if after == "running":
            assert before == "queued", what
            assert any(run_id.dag_id not in moment.paused for moment in moments), what
        elif after == "queued":  # it makes room for the run before it
            assert any(node.asks_past for node in self.dags[run_id.dag_id].nodes.values()), what
        else:
            open_ = {
                id: t.state for id, t in self.runs[run_id].tasks.items() if t.state not in FINAL
            }
            assert not open_, f"{what} although it has {open_}"
            assert after == self.verdict(run_id), what

    def verdict(self, run_id: RunId) -> str:
        """Leaves decide."""
        tasks = self.runs[run_id].tasks
        leaves = {tasks[id].state for id in self.dags[run_id.dag_id].leaves}
        return "failed" if leaves & {"failed", "upstream_failed"} else "success"

    def _require_room(self, queued: Collection[TaskId]) -> None:
        """Where something was queued, no limit is exceeded."""
        active = [id for id, task in self.all_tasks() if task.state in ACTIVE]
        for id in queued:
            dag = self.dags[id.run.dag_id]
            pool = self.node(id).pool
            size = self.pools[pool]
            of_pool = sum(self.node(other).pool == pool for other in active)
            assert size < 0 or of_pool <= size, f"{of_pool} tasks in {pool}, which has {size} slots"
            of_run = sum(other.run == id.run for other in active)
            assert of_run <= dag.max_active_tasks, f"{of_run} active tasks in {id.run}"
            of_dag = sum(other.run.dag_id == id.run.dag_id for other in active)
            if dag.concurrency is not None:
                assert of_dag <= dag.concurrency, f"{of_dag} active tasks in {id.run.dag_id}"

    # ── what stands in the database ──────────────────────────────────────────────────────────────

    def require_equal(self, seen: Mapping[RunId, SeenRun]) -> None:
        """The database says the same, and numbers of claims only grow."""
        assert set(seen) == set(self.runs)
        for run_id, run in self.runs.items():
            now = seen[run_id]
            assert now.state == run.state, f"{run_id} is {now.state} and should be {run.state}"
            for task_id, task in run.tasks.items():
                is_ = now.tasks.get(task_id, NOTHING)
                what = f"{run_id} {task_id} is {is_} and should be {task}"
                assert is_.state == task.state, what
                assert is_.tries == task.tries, what
                assert is_.claim >= task.claim, what
                assert task.state not in HELD or is_.worker == task.worker, what
                task.claim = is_.claim

    def waiting_for_past(self) -> list[TaskId]:
        """Tasks of earlier runs that ended so that those after them wait for an operator."""
        moment = self.moments[-1]
        blockers = []
        for id, task in self.all_tasks():
            if (
                task.state == "none"
                and self.node(id).asks_past
                and "wait" in self.follows(id, moment)
            ):
                before = self.previous(id.run, moment)
                if before is not None and before.tasks[id.task_id].state in (
                    "failed",
                    "upstream_failed",
                ):
                    owner = next(key for key, run in moment.runs.items() if run is before)
                    blockers.append(TaskId(owner, id.task_id))
        return blockers
