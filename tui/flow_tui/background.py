"""Work that a screen has done while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from textual.css.query import NoMatches
from textual.dom import DOMNode

Work = Callable[[], Coroutine[Any, Any, None]]


def start(node: DOMNode, work: Work, *, group: str = "default", exclusive: bool = False) -> None:
    """Do the work of a node; it ends with it. `exclusive`: what its group was doing ends now.

    The coroutine is made when its turn comes: made before, it would be left unawaited where the
    node is gone by then.
    """
    node.run_worker(
        partial(_do, node, work),  # type: ignore[arg-type]
        group=group,
        exclusive=exclusive,
    )


async def _do(node: DOMNode, work: Work) -> None:
    try:
        await work()
    except NoMatches:
        if node.display:
            raise
        # It is being removed, its widgets one by one: what cannot be shown is not looked for.
