"""Saying of what is shown that it is from before a clear."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from flow.wording.tries import before_clear

if TYPE_CHECKING:
    from flow.store.read.tasks import Unrun, XCom
    from flow_cli.output import Output


def tell_unrun(printer: Output, unrun: Iterable[Unrun]) -> None:
    """Say which task instances have not run since they were cleared, if any."""
    text = before_clear(unrun)
    if text is not None:
        printer.message(text)


def of_shown(unrun: Iterable[Unrun], xcoms: Iterable[XCom]) -> list[Unrun]:
    """Those of which XComs of a try from before are shown."""
    shown = {(one.task_id, tuple(one.map_index), one.try_number) for one in xcoms}
    return [one for one in unrun if (one.task_id, tuple(one.map_index), one.try_number) in shown]
