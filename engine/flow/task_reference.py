"""How a task instance is written within its run."""

from __future__ import annotations

from collections.abc import Iterable


def task_reference(task_id: str, map_index: Iterable[int] = ()) -> str:
    """`load`; of a mapped task `load[3]`, within mapped groups `load[3][0]`."""
    return task_id + "".join(f"[{index}]" for index in map_index)
