"""What is told to somebody who waits for what nobody is there to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flow.enumeration import few
from flow.graph.spec import DEFAULT_EXECUTOR, DEFAULT_QUEUE

if TYPE_CHECKING:
    from flow.ops.missing_roles import MissingRoles, UnservedQueue


def warnings(missing: MissingRoles) -> Iterator[str]:
    """A sentence for each role that is missing, and how it is started."""
    if missing.scheduler:
        yield (
            "no scheduler is alive: nothing goes on until one is started, with `flow up` or "
            "`flow schedule`"
        )
    for one in missing.queues:
        yield (
            f"no live worker serves queue {one.queue} of executor {one.executor}: "
            f"{few(one.tasks, 3)} cannot start until one does{_start(one)}"
        )


def _start(one: UnservedQueue) -> str:
    if one.executor != DEFAULT_EXECUTOR:
        return ""
    if one.queue == DEFAULT_QUEUE:
        return ", with `flow up` or `flow work`"
    return f", with `flow work --queues {one.queue}`"
