"""What a clear would do to runs: pure, so that what is shown and what is done are the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from flow.graph import Graph, TaskSpec
from flow.graph.index import prioritised
from flow.ops.selection import Selected
from flow.states import FINISHED, FINISHED_RUNS, OCCUPYING, RunState, TaskState
from flow.store.instances import Instance, Key
from flow.store.read.runs import FoundRun


class Cleared(NamedTuple):
    """A task instance that changes its state."""

    task_id: str
    map_index: list[int]
    before: TaskState
    after: TaskState


class ClearedRun(NamedTuple):
    """What becomes of one run.

    `tasks` are decided anew. `dropped` are unfinished tasks that its new version does not have:
    they are stopped and skipped. `added` are tasks that only the new version has: they run too.
    `stays` are tasks downstream that rest as upstream_failed and are not cleared.
    """

    run_id: str
    before: RunState
    after: RunState
    version_before: int
    version: int
    tasks: list[Cleared]
    dropped: list[Cleared]
    added: list[str]
    stays: list[str]


class Target(NamedTuple):
    """The graph that a run is to have from then on, and what is selected of it."""

    version: int
    graph: Graph
    selected: Selected


class Planned(NamedTuple):
    """One run to clear, with what writing it needs."""

    found: FoundRun
    shown: ClearedRun
    target: Target
    instances: list[Instance]
    """Those that are cleared."""
    restarts: dict[Key, int | None]
    """Those of them that wait for the death of a process: their own, or one of a worker given."""
    dropped: list[Instance]
    waiting: list[tuple[int, TaskSpec]]
    """Ready tasks that are not cleared, for which the target graph may say something else."""

    @property
    def finished(self) -> bool:
        """Whether the run had ended, and begins anew."""
        return self.shown.before in FINISHED_RUNS

    @property
    def freed(self) -> set[str]:
        """Pools in which slots become free at once."""
        gone = [one for one in self.instances if one.state == TaskState.QUEUED]
        gone += [one for one in self.dropped if TaskState(one.state) in OCCUPYING]
        return {one.pool for one in gone}


def plan(
    found: FoundRun,
    own: Graph,
    target: Target,
    rows: Sequence[Instance],
    states: Collection[TaskState] | None,
    stopping: Mapping[Key, int],
) -> Planned | None:
    """What clearing does to a run; None: there is nothing to clear.

    `own` is the graph that the run has; `states` narrows the selection to instances in them;
    `stopping` names instances with a process that is still being stopped.
    """
    chosen = {one.key for one in rows if _is_chosen(one, target.selected, states)}
    if not chosen:
        return None
    instances = [one for one in rows if one.key in chosen]
    restarts = {
        one.key: stopping.get(one.key)
        for one in instances
        if one.state == TaskState.RUNNING or one.key in stopping
    }
    dropped = [one for one in rows if _is_dropped(one, target.graph)]
    before = RunState(found.run.state)
    shown = ClearedRun(
        run_id=found.run.run_id,
        before=before,
        after=RunState.QUEUED if before in FINISHED_RUNS else before,
        version_before=found.run.version,
        version=target.version,
        tasks=[
            _cleared(one, TaskState.RESTARTING if one.key in restarts else TaskState.NONE)
            for one in _in_order(target.graph, instances)
        ],
        dropped=[_cleared(one, TaskState.SKIPPED) for one in _in_order(own, dropped)],
        added=[task_id for task_id in target.graph.order if task_id not in own.tasks],
        stays=_stays(target.graph, rows, chosen),
    )
    waiting = [
        (one.run_key, prioritised(target.graph.tasks[one.task_id], found.priority))
        for one in rows
        if one.state == TaskState.SCHEDULED
        and one.key not in chosen
        and one.task_id in target.graph.tasks
    ]
    return Planned(found, shown, target, instances, restarts, dropped, waiting)


def _is_chosen(one: Instance, selected: Selected, states: Collection[TaskState] | None) -> bool:
    state = TaskState(one.state)
    if state in (TaskState.NONE, TaskState.RESTARTING):
        return False  # it is open already, or will be
    return selected.has(one.task_id, one.map_path) and (states is None or state in states)


def _is_dropped(one: Instance, graph: Graph) -> bool:
    state = TaskState(one.state)
    return one.task_id not in graph.tasks and state not in FINISHED and state != TaskState.NONE


def _in_order(graph: Graph, instances: Sequence[Instance]) -> list[Instance]:
    """Upstream first."""
    return sorted(instances, key=lambda one: (graph.rank.get(one.task_id, -1), one.map_path))


def _cleared(one: Instance, after: TaskState) -> Cleared:
    return Cleared(one.task_id, list(one.map_path), TaskState(one.state), after)


def _stays(graph: Graph, rows: Sequence[Instance], chosen: set[Key]) -> list[str]:
    below = graph.descendants({task_id for _, task_id, _ in chosen})
    resting = {
        one.task_id
        for one in rows
        if one.state == TaskState.UPSTREAM_FAILED and one.key not in chosen
    }
    return [task_id for task_id in graph.order if task_id in below and task_id in resting]
