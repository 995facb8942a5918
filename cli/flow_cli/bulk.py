"""Verbs that change many runs: which ones are meant; show what would be done, ask, do just that."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from flow.errors import UsageError
from flow.wording.run_changes import Outcome, Words
from flow_cli.confirm import confirm
from flow_cli.output import Output

if TYPE_CHECKING:
    from flow.ops.run_ranges import RunName, Which


E = TypeVar("E", bound=StrEnum)
T = TypeVar("T", bound=Outcome, contravariant=True)
U = TypeVar("U", bound=Outcome)
V = TypeVar("V", bound=Outcome, covariant=True)


class Act(Protocol[V]):
    """The operation behind a verb; `only` narrows the runs."""

    def __call__(self, *, which: Which, only: set[RunName] | None, dry_run: bool) -> V: ...


class Page(Words[T], Protocol[T]):
    """How a verb shows what it does."""

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
        plan = act(which=which, only=None, dry_run=True)
        if dry_run or not plan.changes:
            page.report(printer, plan, dry_run=dry_run)
            return
        printer.message("\n".join(page.describe(plan)))
        confirm(page.question(plan), yes=yes)
        only = {(one.dag_id, one.run_id) for one in plan.runs}
        if which.reference is not None and len(only) == 1:
            which = which._replace(reference=plan.runs[0].run_id)
    page.report(printer, act(which=which, only=only, dry_run=False), dry_run=False)


def named_runs(
    words: Sequence[str], rest: Sequence[str], start: str | None, end: str | None, where: str | None
) -> tuple[Which, Sequence[str]]:
    """Which runs are meant, and the words that are named `rest` on the help page.

    `words` begin with a run, unless `start`, `end` or `where` name several. Raises `UsageError` for
    too few words, and too many.
    """
    from flow.ops.run_ranges import Which

    in_range = any(one is not None for one in (start, end, where))
    wanted = len(rest) + (not in_range)
    if len(words) != wanted:
        names = " ".join(rest if in_range else ("RUN", *rest))
        said = "too many" if len(words) > wanted else "too few"
        why = "with --from, --to or --where no run is named" if in_range else "or --from DATE"
        raise UsageError(f"there are {said} arguments after DAG", f"write {names} ({why})")
    run = None if in_range else words[0]
    return Which(run, start, end, where), words[len(words) - len(rest) :]


def one_of(word: str, choices: type[E]) -> E:
    """The choice that a word is. Raises `UsageError` naming all."""
    try:
        return choices(word)
    except ValueError:
        names = ", ".join(choices)
        raise UsageError(f"{word!r} is not one of {names}", f"write one of {names}") from None
