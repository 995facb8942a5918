"""Verbs that change many runs: show what they would do, ask, and do exactly that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from flow.wording.run_changes import Outcome
from flow_cli.confirm import confirm
from flow_cli.output import Output

if TYPE_CHECKING:
    from flow.ops.run_ranges import RunName, Which


T = TypeVar("T", bound=Outcome, contravariant=True)
U = TypeVar("U", bound=Outcome)
V = TypeVar("V", bound=Outcome, covariant=True)


class Act(Protocol[V]):
    """The operation behind a verb; `only` narrows the runs."""

    def __call__(self, which: Which, only: set[RunName] | None, /, *, dry_run: bool) -> V: ...


class Page(Protocol[T]):
    """How a verb shows what it does."""

    def describe(self, outcome: T) -> list[str]:
        """A line or more for every run."""

    def question(self, outcome: T) -> str:
        """What somebody has to agree to."""

    def report(self, printer: Output, outcome: T, *, dry_run: bool) -> None:
        """Print what was done, or would be."""


def carry_out(
    printer: Output, act: Act[U], page: Page[U], which: Which, *, yes: bool, dry_run: bool
) -> None:
    """Act on the runs, after a look and an answer where `yes` does not give it.

    Exactly the runs that were shown are changed: `latest` may be another one by then, and a range
    longer.
    """
    only = None
    if dry_run or not yes:
        plan = act(which, None, dry_run=True)
        if dry_run or not plan.changes:
            page.report(printer, plan, dry_run=dry_run)
            return
        printer.message("\n".join(page.describe(plan)))
        confirm(page.question(plan), yes=yes)
        only = {(one.dag_id, one.run_id) for one in plan.runs}
        if which.reference is not None and len(only) == 1:
            which = which._replace(reference=plan.runs[0].run_id)
    page.report(printer, act(which, only, dry_run=False), dry_run=False)
