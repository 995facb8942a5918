"""Deeds to runs as wholes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from flow_tui.command import command
from flow_tui.deeds.deed import Deed, of_many
from flow_tui.deeds.selection import Runs, for_runs
from flow_tui.targets import Target

if TYPE_CHECKING:
    from flow.ops.cancelling import Cancelling
    from flow.ops.deleting import Deleting
    from flow.ops.deployment import Deployment
    from flow.ops.holding import Pausing


def cancel(targets: Sequence[Target]) -> list[Deed]:
    """`flow runs cancel`."""
    return for_runs(_cancel)(targets)


def delete(targets: Sequence[Target]) -> list[Deed]:
    """`flow runs delete`."""
    return for_runs(_delete)(targets)


def pause(verb: str) -> Callable[[Sequence[Target]], list[Deed]]:
    """`flow runs pause` or `resume`."""
    return for_runs(partial(_pause, verb))


def _cancel(runs: Runs) -> Deed:
    from flow.wording.run_changes import CancelWords

    def act(deployment: Deployment, *, dry_run: bool) -> Cancelling:
        from flow.ops import cancelling

        return cancelling.cancel(deployment, runs.dag_id, runs.which, dry_run=dry_run)

    return of_many(command("runs", "cancel", runs.dag_id, *runs.words), act, CancelWords())


def _delete(runs: Runs) -> Deed:
    from flow.wording.run_changes import DeleteWords

    def act(deployment: Deployment, *, dry_run: bool) -> Deleting:
        from flow.ops import deleting

        return deleting.delete(deployment, runs.dag_id, runs.which, dry_run=dry_run)

    return of_many(command("runs", "delete", runs.dag_id, *runs.words), act, DeleteWords())


def _pause(verb: str, runs: Runs) -> Deed:
    from flow.wording.run_changes import PauseWords

    def act(deployment: Deployment, *, dry_run: bool) -> Pausing:
        from flow.ops import holding

        operation = holding.pause if verb == "pause" else holding.resume
        return operation(deployment, runs.dag_id, runs.which, dry_run=dry_run)

    return of_many(command("runs", verb, runs.dag_id, *runs.words), act, PauseWords(verb))
