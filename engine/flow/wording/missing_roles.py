"""What is told to somebody who waits for what nobody is there to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flow.enumeration import few

if TYPE_CHECKING:
    from flow.ops.missing_roles import MissingRoles


def warnings(missing: MissingRoles) -> Iterator[str]:
    """A sentence for each role that is missing, and how it is started."""
    if missing.scheduler:
        yield (
            "no scheduler is alive: nothing goes on until one is started, with `flow up` or "
            "`flow schedule`"
        )
    for one in missing.queues:
        start = f", with `{one.command}`" if one.command else ""
        yield (
            f"no live worker serves queue {one.queue} of executor {one.executor}: "
            f"{few(one.tasks, 3)} cannot start until one does{start}"
        )
