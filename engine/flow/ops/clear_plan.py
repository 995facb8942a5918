"""What a clear would do to runs: pure, so that what is shown and what is done are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from flow.decide.reason import Code
from flow.graph import Graph, TaskSpec
from flow.graph.index import prioritised
from flow.ops.clear_targets import Target
from flow.states import FINISHED, FINISHED_RUNS, OCCUPYING, RunState, TaskState
from flow.store.instances import Instance, Key
from flow.store.read.runs import FoundRun

_MAY_KEEP_A_SLOT: Final = frozenset(
    {TaskState.QUEUED, TaskState.DEFERRED, TaskState.UP_FOR_RESCHEDULE, TaskState.AWAITING_INPUT}
)
"""States without a process in which a task occupies its pool, or may."""


class Cleared(NamedTuple):
    """A task instance that changes its state."""

    task_id: str
    map_index: list[int]
    before: TaskState
    after: TaskState
    held: bool
    """It stays so: it is not started before it is released."""


class ChangedTask(NamedTuple):
    """A task that the new version of a run defines in another way, by these fields."""

    task_id: str
    fields: list[str]


class Codeless(NamedTuple):
    """A task whose code is gone, and how its tries would end: code_missing or code_mismatch."""

    task_id: str
    ends_as: Code


class ClearedRun(NamedTuple):
    """What becomes of one run. One that is `paused` stays so.

    `tasks` are decided anew. `dropped` are unfinished tasks that its new version does not have:
    they are stopped and skipped. `vanished` ones had ended: they stay as they are and count no
    more. `added` are tasks that only the new version has: they run too. `changed` are those, of
    the tasks that are still to run, that it defines in another way. `stays` are tasks downstream
    that rest as upstream_failed and are not cleared. `codeless` are those, of the tasks that
    are still to run, that could not: the DAG processors have seen their code go.
    """

    dag_id: str
    run_id: str
    before: RunState
    after: RunState
    version_before: int
    version: int
    paused: bool
    tasks: list[Cleared]
    dropped: list[Cleared]
    vanished: list[str]
    added: list[str]
    changed: list[ChangedTask]
    stays: list[str]
    codeless: list[Codeless]


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
        gone = [one for one in self.instances if one.state in _MAY_KEEP_A_SLOT]
        gone += [one for one in self.dropped if TaskState(one.state) in OCCUPYING]
        return {one.pool for one in gone}


def plan(
    found: FoundRun,
    own: Graph,
    target: Target,
    rows: Sequence[Instance],
    fits: Callable[[Instance], bool],
    stopping: Mapping[Key, int],
) -> Planned | None:
    """What clearing does to a run; None: there is nothing to clear.

    `own` is the graph that the run has; `fits` narrows the selection; `stopping` names instances
    with a process that is still being stopped.
    """
    chosen = {one.key: one for one in rows if _is_chosen(one, target) and fits(one)}
    if not chosen:
        return None
    instances = list(chosen.values())
    restarts = {
        one.key: stopping.get(one.key)
        for one in instances
        if one.state == TaskState.RUNNING or one.key in stopping
    }
    dropped = [one for one in rows if _is_dropped(one, target.graph)]
    tasks = [
        _cleared(one, TaskState.RESTARTING if one.key in restarts else TaskState.NONE)
        for one in _in_order(target.graph, instances)
    ]
    others = [one for one in rows if one.key not in chosen]
    shown = _shown(found, own, target, others, tasks, dropped)
    waiting = _waiting(target.graph, others, found.priority)
    return Planned(found, shown, target, instances, restarts, dropped, waiting)


def _shown(
    found: FoundRun,
    own: Graph,
    target: Target,
    others: Sequence[Instance],
    tasks: list[Cleared],
    dropped: Sequence[Instance],
) -> ClearedRun:
    """What becomes of a run in which `tasks` are cleared and `others` are not."""
    before = RunState(found.run.state)
    graph = target.graph
    resting = {one.task_id for one in others if one.state in FINISHED}
    return ClearedRun(
        dag_id=found.run.dag_id,
        run_id=found.run.run_id,
        before=before,
        after=RunState.QUEUED if before in FINISHED_RUNS else before,
        version_before=found.run.version,
        version=target.version,
        paused=found.paused,
        tasks=tasks,
        dropped=[_cleared(one, TaskState.SKIPPED) for one in _in_order(own, dropped)],
        vanished=[id for id in own.order if id in resting and id not in graph.tasks],
        added=[id for id in graph.order if id not in own.tasks],
        changed=[
            ChangedTask(id, fields) for id, fields in target.changed.items() if id not in resting
        ],
        stays=_stays(graph, others, {one.task_id for one in tasks}),
        codeless=[
            Codeless(id, target.codeless[id])
            for id in graph.order
            if id in target.codeless and id not in resting
        ],
    )


def _waiting(graph: Graph, others: Sequence[Instance], priority: int) -> list[tuple[int, TaskSpec]]:
    """The ready tasks among those that are not cleared, as the target graph has them."""
    return [
        (one.run_key, prioritised(graph.tasks[one.task_id], priority))
        for one in others
        if one.state == TaskState.SCHEDULED and one.task_id in graph.tasks
    ]


def _is_chosen(one: Instance, target: Target) -> bool:
    if one.state in (TaskState.NONE, TaskState.RESTARTING):
        return False  # it is open already, or will be
    return target.selected.has(one.task_id, one.map_path)


def _is_dropped(one: Instance, graph: Graph) -> bool:
    state = TaskState(one.state)
    return one.task_id not in graph.tasks and state not in FINISHED and state != TaskState.NONE


def _in_order(graph: Graph, instances: Sequence[Instance]) -> list[Instance]:
    """Upstream first."""
    return sorted(instances, key=lambda one: (graph.rank.get(one.task_id, -1), one.map_path))


def _cleared(one: Instance, after: TaskState) -> Cleared:
    return Cleared(one.task_id, list(one.map_path), TaskState(one.state), after, one.held)


def _stays(graph: Graph, others: Sequence[Instance], cleared: set[str]) -> list[str]:
    below = graph.descendants(cleared)
    resting = {one.task_id for one in others if one.state == TaskState.UPSTREAM_FAILED}
    return [id for id in graph.order if id in below and id in resting]
