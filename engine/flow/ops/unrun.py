"""What is shown of tasks that have not run since they were cleared: it is of a try from before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flow.store.connect import Conn
from flow.store.read import tasks
from flow.store.read.tasks import Unrun

Shown = tuple[str, Sequence[int], int]
"""Of which try something is shown: task_id, map index, number."""


def from_before(conn: Conn, run_key: int, shown: Iterable[Shown]) -> list[Unrun]:
    """Those tries of a run that were made before a clear, by tasks that have not run since.

    Asked in the snapshot in which the tries were read.
    """
    tries = {(task_id, tuple(map_index), number) for task_id, map_index, number in shown}
    if not tries:
        return []
    return [
        one
        for one in tasks.unrun(conn, run_key)
        if (one.task_id, tuple(one.map_index), one.try_number) in tries
    ]
