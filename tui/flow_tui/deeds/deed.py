"""A deed, and what it would do now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from flow.wording.run_changes import Outcome, Words

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment

T = TypeVar("T", bound=Outcome)
Done = TypeVar("Done", bound=Outcome, covariant=True)


class Act(Protocol[Done]):
    """The operation behind a verb for many things."""

    def __call__(self, deployment: Deployment, *, dry_run: bool) -> Done: ...


class Plan(NamedTuple):
    """What a deed would do now. Nothing to `carry_out`: it would change nothing."""

    lines: list[str]
    question: str
    carry_out: Callable[[Deployment], list[str]] | None


class Deed(NamedTuple):
    """One command and its operation."""

    command: str
    look: Callable[[Deployment], Plan]


def of_many(command: str, act: Act[T], words: Words[T]) -> Deed:
    """A verb for many things, which says with `dry_run` what it would change, in its `words`."""

    def look(deployment: Deployment) -> Plan:
        planned = act(deployment, dry_run=True)
        notes = words.notes(planned, dry_run=True)
        if not planned.changes:
            return Plan(notes or ["nothing would change"], "", None)
        return Plan([*words.describe(planned), *notes], words.question(planned), carry_out)

    def carry_out(deployment: Deployment) -> list[str]:
        return words.describe(act(deployment, dry_run=False))

    return Deed(command, look)
