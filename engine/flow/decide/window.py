"""Tasks that a run passes over: those outside of their window, and those it was not made for.

The window of a task says for which logical dates it runs; a backfill may make a run for some of its
tasks only. A task that is passed over is skipped when its turn comes, that is when its trigger rule
would let it run, and trigger rules below it count it as a success. So it changes nothing for the
other tasks of the run; in Airflow a task outside its window gets no row, and what waits for it
waits for ever. A skip for any other reason counts as a skip, also of such a task.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from flow.graph.spec import TaskSpec


def outside_window(task: TaskSpec, logical_date: datetime | None) -> str | None:
    """Why a run of `logical_date` passes the task over; None: it does not.

    Both ends belong to the window. Without a logical date no window binds.
    """
    if logical_date is None:
        return None
    if task.start_date is not None and logical_date < task.start_date:
        return f"the run is before the task's start_date {task.start_date.isoformat()}"
    if task.end_date is not None and logical_date > task.end_date:
        return f"the run is after the task's end_date {task.end_date.isoformat()}"
    return None


def not_selected(task: TaskSpec, selected: Collection[str] | None) -> str | None:
    """Why a run that is about `selected` tasks passes this one over; None: it does not."""
    if selected is None or task.task_id in selected:
        return None
    return "not selected by the backfill that made the run"
