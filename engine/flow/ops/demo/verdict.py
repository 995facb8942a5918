"""Whether the demo came out right. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flow.ops.demo.project import Totals
from flow.states import RunState, TryState
from flow.store.read.tasks import Try


class Night(NamedTuple):
    """One night at the end: its run, its load, and what the warehouse has of its day."""

    day: str
    run_state: str
    load_tries: Sequence[Try]
    loaded: Totals | None
    reported: Totals | None
    expected: Totals
    killed: bool
    """Whether the worker was killed while it loaded this night."""


class Outcome(NamedTuple):
    """How the demo ended. No problems: all is right. `folder` is None once it is removed."""

    nights: Sequence[Night]
    others: Mapping[str, str]
    """State of the run of each other example pipeline, by DAG."""
    problems: Sequence[str]
    seconds: float
    folder: Path | None


def problems(nights: Sequence[Night], others: Mapping[str, str]) -> list[str]:
    """What is not as it has to be, a sentence each."""
    found = [problem for night in nights for problem in _of_night(night)]
    return found + [
        f"the run of {dag_id} is {state}"
        for dag_id, state in others.items()
        if state != RunState.SUCCESS
    ]


def _of_night(night: Night) -> list[str]:
    found = []
    if night.run_state != RunState.SUCCESS:
        found.append(f"the run of {night.day} is {night.run_state}")
    for said, totals in (("has", night.loaded), ("was reported with", night.reported)):
        if totals != night.expected:
            found.append(f"{night.day} {said} {_text(totals)} instead of {_text(night.expected)}")
    states = [one.state for one in night.load_tries]
    if night.killed and states != [TryState.LOST, TryState.SUCCESS]:
        found.append(
            f"the load of {night.day} went {', '.join(states)}; one lost try was to be followed "
            "by one success"
        )
    if states[-1:] != [TryState.SUCCESS]:
        found.append(f"the last try of the load of {night.day} is no success")
    return found


def _text(totals: Totals | None) -> str:
    if totals is None:
        return "nothing"
    return f"{totals.orders} orders of {totals.revenue_cents / 100:.2f}"
