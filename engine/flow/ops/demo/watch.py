"""What the demo's runs look like by now, through the same reads as the verbs."""

from __future__ import annotations

from typing import Final, NamedTuple

from flow.errors import FlowError, NotFound
from flow.ops import dags, grid, tasks
from flow.ops.demo.project import HOUSEKEEPING, LOAD, NIGHTLY, NIGHTS
from flow.ops.deployment import Deployment
from flow.ops.grid import Grid
from flow.states import FINISHED_RUNS, TaskState, TryState
from flow.store.read.tasks import Try

EXPECTED_RUNS: Final = {NIGHTLY: NIGHTS, HOUSEKEEPING: 1}


class Scene(NamedTuple):
    """The grids of those example pipelines that have been parsed."""

    grids: list[Grid]

    @property
    def over(self) -> bool:
        """Whether every run there has to be is finished."""
        return all(
            any(
                grid.dag_id == dag_id
                and len(grid.runs) >= expected
                and all(run.state in FINISHED_RUNS for run in grid.runs)
                for grid in self.grids
            )
            for dag_id, expected in EXPECTED_RUNS.items()
        )


def look(deployment: Deployment) -> Scene:
    """The scene now. Raises `FlowError` when an example pipeline could not be imported."""
    found = []
    for dag_id, runs in EXPECTED_RUNS.items():
        try:
            # One more, because midnight may come meanwhile.
            found.append(grid.show(deployment, dag_id, runs + 1))
        except NotFound:
            _require_imports(deployment)
    return Scene(found)


def loading_worker(deployment: Deployment, night: str) -> int | None:
    """The pid of the worker that runs the night's load; None when none does."""
    for task in tasks.list_(deployment, NIGHTLY, night).tasks:
        if task.task_id == LOAD and task.state == TaskState.RUNNING and task.worker:
            return int(task.worker.rpartition(":")[2])
    return None


def load_tries(deployment: Deployment, night: str) -> list[Try]:
    """The tries of the night's load."""
    return tasks.tries(deployment, NIGHTLY, night, LOAD).tries


def first_try_lost(deployment: Deployment, night: str) -> bool:
    """Whether the first try of the night's load is closed as lost."""
    tries = load_tries(deployment, night)
    return bool(tries) and tries[0].state == TryState.LOST


def _require_imports(deployment: Deployment) -> None:
    broken = dags.errors(deployment).rows
    if broken:
        raise FlowError(f"{broken[0].file} cannot be imported: {broken[0].error}")
