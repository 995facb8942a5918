"""The window of a task: for which logical dates it runs.

Outside its window a task is passed over: when its turn comes, that is when its trigger rule would
let it run, it is skipped instead, and trigger rules below it count it as a success. So the window
of a task changes nothing for the other tasks of the run; in Airflow such a task gets no row, and
what waits for it waits for ever. A skip for any other reason counts as a skip, also outside.
"""

from __future__ import annotations

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
