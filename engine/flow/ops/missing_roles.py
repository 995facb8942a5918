"""Which roles something that is waited for needs, and are not there: without them it never ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flow.graph import TaskSpec
from flow.graph.spec import DEFAULT_EXECUTOR, DEFAULT_QUEUE
from flow.ops import status
from flow.ops.deployment import Deployment
from flow.ops.references import find_dag, load_graph, load_graphs
from flow.states import FINISHED, TaskState
from flow.store.connect import Conn
from flow.store.read import runs as stored_runs
from flow.store.read import standing
from flow.store.read import tasks as stored_tasks
from flow.store.read.backfills import Backfill
from flow.store.read.runs import FoundRun


class UnservedQueue(NamedTuple):
    """A queue of an executor that no live worker serves, and the tasks that are to go there."""

    executor: str
    queue: str
    tasks: list[str]

    @property
    def command(self) -> str | None:
        """What starts a worker that serves it; None: Flow has no such worker."""
        if self.executor != DEFAULT_EXECUTOR:
            return None
        return "flow work" if self.queue == DEFAULT_QUEUE else f"flow work --queues {self.queue}"


class MissingRoles(NamedTuple):
    """What is missing at this moment. `scheduler`: there is none that lives."""

    scheduler: bool
    queues: list[UnservedQueue]


def for_runs(deployment: Deployment, found: Sequence[FoundRun]) -> MissingRoles:
    """What runs lack to come to their end, as they are now."""
    scheduler = not status.has_scheduler(deployment)
    with deployment.snapshot():
        return MissingRoles(scheduler, _unserved(deployment.conn, _open_tasks(deployment, found)))


def for_backfill(deployment: Deployment, backfill: Backfill) -> MissingRoles:
    """What a backfill lacks to come to its end, with the latest version of its DAG."""
    scheduler = not status.has_scheduler(deployment)
    conn = deployment.conn
    with deployment.snapshot():
        graph = load_graph(conn, find_dag(conn, backfill.dag_id).spec_hash)
        chosen = graph.order if backfill.tasks is None else backfill.tasks
        tasks = (graph.tasks[task_id] for task_id in chosen if task_id in graph.tasks)
        return MissingRoles(scheduler, _unserved(conn, tasks))


def _open_tasks(deployment: Deployment, found: Sequence[FoundRun]) -> Iterable[TaskSpec]:
    """The tasks that have not ended in some of these runs; what was deleted has none."""
    conn = deployment.conn
    now = stored_runs.by_keys(conn, [one.run_key for one in found])
    graphs = load_graphs(conn, {one.spec_hash for one in now.values()})
    counted = stored_tasks.counts(conn, list(now))
    there = {(one.run_key, one.task_id) for one in counted}
    unfinished = {
        (one.run_key, one.task_id) for one in counted if TaskState(one.state) not in FINISHED
    }
    for run_key, run in now.items():
        for task_id, task in graphs[run.spec_hash].tasks.items():
            key = run_key, task_id
            if key in unfinished or (key not in there and _is_to_run(run, task_id)):
                yield task


def _is_to_run(run: FoundRun, task_id: str) -> bool:
    return run.selected is None or task_id in run.selected


def _unserved(conn: Conn, tasks: Iterable[TaskSpec]) -> list[UnservedQueue]:
    """The queues that nobody serves, by name, of those that tasks with something to run need."""
    needed: dict[tuple[str, str], dict[str, None]] = {}
    for task in tasks:
        if task.runs_code:
            needed.setdefault((task.executor, task.queue), {})[task.task_id] = None
    return [
        UnservedQueue(executor, queue, list(names))
        for (executor, queue), names in sorted(needed.items())
        if not standing.workers(conn, executor, queue).workers
    ]
