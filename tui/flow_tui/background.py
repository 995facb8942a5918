"""Work that a screen has done while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from textual.dom import DOMNode

Work = Callable[[], Coroutine[Any, Any, None]]


def start(node: DOMNode, work: Work, *, group: str = "default", exclusive: bool = False) -> None:
    """Do the work of a node; it ends with it. `exclusive`: what its group was doing ends now.

    The coroutine is made when its turn comes: made before, it would be left unawaited where the
    node is gone by then.
    """
    node.run_worker(work, group=group, exclusive=exclusive)  # type: ignore[arg-type]
