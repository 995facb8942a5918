"""The past of a task: what `depends_on_past` and `wait_for_downstream` wait for.

The *chain* of a DAG with a schedule is made of its interval runs, whoever made them, in order of
logical date: an ad hoc run waits for no past, and nothing waits for it. In a DAG without a schedule
all runs are in the chain. A task that depends on its past waits for its own instance in the
previous run of the chain; one that waits for downstream also for what is directly downstream of
that instance.

Success and skipped let it go, and so does a previous run that does not have the task
(`ignore_first_depends_on_past`), or no previous run at all. Whatever else that instance ended in
keeps it waiting, until somebody clears or marks it. Source: Airflow 3.3's `PrevDagrunDep`, except
that there ad hoc runs are in the chain where catchup is off, and that a task which the previous run
lacks waits for ever once any earlier run had it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from flow.decide.reason import Code, Reason
from flow.graph.spec import TaskSpec
from flow.states import FINISHED, RunState, TaskState

_SATISFIED = frozenset({TaskState.SUCCESS, TaskState.SKIPPED})


class Past(NamedTuple):
    """The previous run of the chain, as far as tasks of this one have asked for it.

    `run_key` is None when there is none. `asked` are the tasks that were looked up, `states` those
    that the previous run has (a task without a row is in state none there); `below` holds, for a
    task that waits for downstream, what is directly downstream of it there.
    """

    run_key: int | None = None
    dag_id: str = ""
    run_id: str = ""
    state: RunState = RunState.SUCCESS
    paused: bool = False
    asked: frozenset[str] = frozenset()
    states: Mapping[str, TaskState] = {}
    below: Mapping[str, tuple[str, ...]] = {}

    @property
    def waits_for_room(self) -> bool:
        """Whether the previous run has not started and may, as soon as its DAG has room."""
        return self.run_key is not None and self.state is RunState.QUEUED and not self.paused

    def knows(self, task_id: str) -> bool:
        """Whether it can answer for a task."""
        return self.run_key is None or task_id in self.asked


NO_PAST = Past()
"""There is no previous run."""


def past_gate(task: TaskSpec, past: Past) -> Reason | None:
    """What keeps a task waiting that depends on its past; None: nothing does."""
    if past.run_key is None:
        return None
    if task.task_id not in past.states:
        if task.ignore_first_depends_on_past:
            return None
        return _reason(Code.PAST_MISSING, task.task_id, past)
    ids = [task.task_id]
    if task.wait_for_downstream:
        ids += past.below.get(task.task_id, ())
    open_ = [id for id in ids if past.states[id] not in _SATISFIED]
    if not open_:
        return None
    for id in open_:
        if past.states[id] in FINISHED:
            return _reason(Code.PAST_FAILED, id, past)
    return _reason(Code.PAST_UNFINISHED, open_[0], past)


def _reason(code: Code, task_id: str, past: Past) -> Reason:
    facts = {
        "task": task_id,
        "dag": past.dag_id,
        "run": past.run_id,
        "state": past.states.get(task_id, TaskState.NONE).value,
    }
    return Reason(code, facts, refers_to=f"{past.dag_id}/{past.run_id}/{task_id}")
