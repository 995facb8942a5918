"""Deeds to tasks of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from flow_tui.deeds.deed import Deed, of_many
from flow_tui.deeds.selection import Runs, for_runs
from flow_tui.targets import Target

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment
    from flow.ops.holding import Holding


def hold(verb: str) -> Callable[[Sequence[Target]], list[Deed]]:
    """`flow tasks hold` or `release`."""
    return for_runs(partial(_hold, verb))


def _hold(verb: str, runs: Runs) -> Deed:
    from flow.wording.task_changes import HoldWords

    def act(deployment: Deployment, *, dry_run: bool) -> Holding:
        from flow.ops import holding

        operation = holding.hold if verb == "hold" else holding.release
        selection = runs.selection or "*"
        return operation(deployment, runs.dag_id, runs.which, selection, dry_run=dry_run)

    return of_many(runs.tasks_command(verb), act, HoldWords(verb))
