"""What is said of tries that were made before their task was cleared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from flow.enumeration import few
from flow.task_reference import task_reference

if TYPE_CHECKING:
    from flow.store.read.tasks import Unrun

UNRUN: Final = "not run since it was cleared; before that "
"""In front of the last try of such a task."""


def before_clear(unrun: Iterable[Unrun]) -> str | None:
    """A sentence about task instances of which only tries from before are shown; None: of none."""
    tries = [
        f"{task_reference(one.task_id, one.map_index)} (try {one.try_number})" for one in unrun
    ]
    return f"from before the last clear, and not run since: {few(tries)}" if tries else None
