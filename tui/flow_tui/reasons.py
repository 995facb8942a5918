"""Why an action is disabled for what is under the cursor."""

from __future__ import annotations

from collections.abc import Sequence

from flow_tui.action import Reason
from flow_tui.targets import Target


def any_in(states: frozenset[str], otherwise: str) -> Reason:
    """Disabled where none of them is in such a state."""

    def reason(targets: Sequence[Target]) -> str | None:
        fits = any(target.state is None or target.state in states for target in targets)
        return None if fits else otherwise

    return reason


def flag(name: str, otherwise: str, *, present: bool) -> Reason:
    """Disabled where no thing has the flag as it has to be: there, or absent.

    A thing whose flags are not known may have it.
    """

    def reason(targets: Sequence[Target]) -> str | None:
        fits = any(target.flags is None or (name in target.flags) is present for target in targets)
        return None if fits else otherwise

    return reason


def of_one_dag(targets: Sequence[Target]) -> str | None:
    """Disabled for things of several DAGs."""
    return None if len({target.words[0] for target in targets}) <= 1 else "one DAG at a time"


def both(*reasons: Reason) -> Reason:
    """Disabled for the first reason that there is."""

    def reason(targets: Sequence[Target]) -> str | None:
        return next((text for one in reasons if (text := one(targets))), None)

    return reason
