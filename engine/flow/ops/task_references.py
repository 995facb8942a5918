"""How a task instance is written: `load`, `group.load`, `load[3]`, nested `load[3][1]`."""

from __future__ import annotations

import re
from typing import NamedTuple

from flow.errors import UsageError
from flow.task_reference import task_reference

_REFERENCE = re.compile(r"(?P<task_id>[^\[\]]+)(?P<indexes>(?:\[\d+\])*)")


class TaskReference(NamedTuple):
    """A task, and for a mapped one which of its instances: `()` is the task as a whole."""

    task_id: str
    map_index: tuple[int, ...] = ()

    def __str__(self) -> str:
        return task_reference(*self)


def parse_task_reference(text: str) -> TaskReference:
    """Read a reference. Raises `UsageError` when it is not written as one."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text!r} is not a task reference",
            "Write a task id such as load or group.load, and for one mapped instance load[3].",
        )
    indexes = re.findall(r"\d+", match["indexes"])
    return TaskReference(match["task_id"], tuple(int(index) for index in indexes))
