"""Clearing runs, and tasks in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flow_tui.command import command
from flow_tui.deeds.deed import Deed, Plan
from flow_tui.deeds.selection import Runs, by_run
from flow_tui.targets import Kind, Target

if TYPE_CHECKING:
    from flow.ops.clearing import Wish
    from flow.ops.deployment import Deployment


@dataclass(frozen=True, slots=True)
class ClearOptions:
    """The choices of `flow clear`."""

    upstream: bool = False
    downstream: bool = False
    only_failed: bool = False
    own_version: bool = False

    @classmethod
    def suggested(cls, targets: Sequence[Target]) -> ClearOptions:
        """What is chosen at first: whoever repairs a task wants what depends on it repaired too."""
        return cls(downstream=all(target.kind is Kind.TASK for target in targets))


def clear(targets: Sequence[Target], options: ClearOptions | None = None) -> list[Deed]:
    """`flow clear` of runs, or of tasks in them; `options` None: those that are suggested."""
    chosen = options or ClearOptions.suggested(targets)
    return [_clear(runs, chosen) for runs in by_run(targets)]


def _clear(runs: Runs, options: ClearOptions) -> Deed:
    def look(deployment: Deployment) -> Plan:
        from flow.ops import clearing
        from flow.wording.clearing import (
            cautions,
            describe,
            notes,
            nothing,
            question,
            warnings,
        )

        planned = clearing.preview(deployment, _wish(runs, options))
        if not planned.runs:
            return Plan(nothing(planned), "", None)

        def carry_out(deployment: Deployment) -> list[str]:
            done = clearing.clear(deployment, _wish(runs, options), planned)
            return describe(done)[:1]

        told = [*notes(planned), *cautions(planned), *warnings(planned)]
        lines = [*describe(planned), *told]
        return Plan(lines, question(planned), carry_out)

    return Deed(command("clear", runs.dag_id, *runs.words, *_words(runs, options)), look)


def _wish(runs: Runs, options: ClearOptions) -> Wish:
    from flow.ops.clearing import Wish
    from flow.states import TaskState

    failed = {TaskState.FAILED, TaskState.UPSTREAM_FAILED}
    return Wish(
        runs.dag_id,
        runs.which,
        runs.selection,
        options.upstream,
        options.downstream,
        failed if options.only_failed else None,
        "run" if options.own_version else "latest",
    )


def _words(runs: Runs, options: ClearOptions) -> tuple[str | None, ...]:
    return (
        "-t" if runs.tasks else None,
        runs.selection,
        "--upstream" if options.upstream else None,
        "--downstream" if options.downstream else None,
        "--only-failed" if options.only_failed else None,
        *(("--version", "run") if options.own_version else ()),
    )
